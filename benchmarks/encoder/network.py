"""The cross-encoder in PyTorch, for its training; `cross_encoder.py` is the same in numpy."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.encoder.e5 import E5, WORDS
from varve.domain.statements.encoder.cross_encoder import EPSILON, HEADS
from varve.domain.statements.encoder.pieces import PAD

WIDTH, WIDE, LAYERS, MOST_PIECES = 384, 1536, 6, 128
SIZE = WIDTH // HEADS
FAR = -1e9


class Layer(nn.Module):
    """One layer, with the weights of e5's layer of that number."""

    def __init__(self, model: E5, number: int) -> None:
        super().__init__()
        self.attending = nn.Linear(WIDTH, 3 * WIDTH)
        self.attended = nn.Linear(WIDTH, WIDTH)
        self.attended_norm = nn.LayerNorm(WIDTH, EPSILON)
        self.widening = nn.Linear(WIDTH, WIDE)
        self.narrowing = nn.Linear(WIDE, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)

        def read(name: str) -> torch.Tensor:
            return torch.tensor(model.tensors[f"l{number}.{name}"])

        heads = [read(f"{one}.w").view(WIDTH, WIDTH) for one in "qkv"]
        self.load_state_dict(
            {
                "attending.weight": torch.cat(heads),
                "attending.bias": torch.cat([read(f"{x}.b") for x in "qkv"]),
                "attended.weight": read("ao.w").view(WIDTH, WIDTH),
                "attended.bias": read("ao.b"),
                "attended_norm.weight": read("aln.w"),
                "attended_norm.bias": read("aln.b"),
                "widening.weight": read("fi.w").view(WIDE, WIDTH),
                "widening.bias": read("fi.b"),
                "narrowing.weight": read("fo.w").view(WIDTH, WIDE),
                "narrowing.bias": read("fo.b"),
                "norm.weight": read("oln.w"),
                "norm.bias": read("oln.b"),
            }
        )

    def forward(self, rows: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """Return the layer's values of texts, padded to one length."""
        texts, count, _ = rows.shape
        heads = self.attending(rows).view(texts, count, 3, HEADS, -1)
        asking, asked, values = heads.permute(2, 0, 3, 1, 4)
        scores = asking @ asked.transpose(2, 3) / SIZE**0.5
        taken = functional.softmax(scores + bias, dim=-1) @ values
        taken = taken.transpose(1, 2).reshape(texts, count, WIDTH)
        rows = self.attended_norm(rows + self.attended(taken))
        wide = functional.gelu(self.widening(rows), approximate="tanh")
        return self.norm(rows + self.narrowing(wide))


class Network(nn.Module):
    """The first layers of e5 with two outputs; the vectors of the pieces stay as they are.

    `kept` are the ids that e5 has for the marks and pieces of the tokenizer, in its order.
    """

    def __init__(self, model: E5, kept: Sequence[int]) -> None:
        super().__init__()
        tensors = model.tensors
        words = torch.tensor(tensors[WORDS]).view(-1, WIDTH)
        self.words = words[list(kept)]
        places = torch.tensor(tensors["emb.pos"]).view(-1, WIDTH)
        kind = torch.tensor(tensors["emb.type"]).view(-1, WIDTH)[0]
        self.places = nn.Parameter(places[:MOST_PIECES] + kind)
        self.norm = nn.LayerNorm(WIDTH, EPSILON)
        self.norm.load_state_dict(
            {
                "weight": torch.tensor(tensors["emb.ln.w"]),
                "bias": torch.tensor(tensors["emb.ln.b"]),
            }
        )
        self.layers = nn.ModuleList(
            Layer(model, number) for number in range(LAYERS)
        )
        self.head = nn.Linear(WIDTH, 2)
        self.start_head()

    def start_head(self) -> None:
        """Begin with outputs near 0, for another task."""
        nn.init.normal_(self.head.weight, 0, 0.02)
        nn.init.zeros_(self.head.bias)

    def forward(self, texts: Sequence[Sequence[int]]) -> torch.Tensor:
        """Return the two outputs of each text, given as the ids of its pieces."""
        longest = max(map(len, texts))
        ids = torch.tensor(
            [[*text, *[PAD] * (longest - len(text))] for text in texts]
        )
        is_told = ids != PAD
        bias = torch.where(is_told, 0.0, FAR)[:, None, None, :]
        rows = self.norm(self.words[ids] + self.places[:longest])
        with torch.autocast("cpu", torch.bfloat16):
            for layer in self.layers:
                rows = layer(rows, bias)
        rows = rows.float()
        told = is_told[..., None].float()
        return self.head((rows * told).sum(1) / told.sum(1))


def list_arrays(network: Network) -> dict[str, np.ndarray]:
    """Return the arrays that `cross_encoder.npz` has of the network.

    The weights of linear layers are of 8 bits with a scale for each output.
    """
    weights = {
        name: tensor.numpy() for name, tensor in network.state_dict().items()
    }
    arrays = {
        "places": weights["places"].astype(np.float16),
        "norm": np.stack([weights["norm.weight"], weights["norm.bias"]]),
        "head": np.vstack([weights["head.weight"].T, weights["head.bias"]]),
        "layers": np.array(LAYERS),
    }
    for number in range(LAYERS):
        own = f"layers.{number}."
        for name in ("attending", "attended", "widening", "narrowing"):
            linear = weights[f"{own}{name}.weight"].T
            scale = np.abs(linear).max(axis=0) / 127
            arrays[f"{number} {name}"] = np.round(linear / scale).astype("i1")
            arrays[f"{number} {name} scale"] = scale
            arrays[f"{number} {name} bias"] = weights[f"{own}{name}.bias"]
        for name in ("attended_norm", "norm"):
            norm = [
                weights[f"{own}{name}.weight"],
                weights[f"{own}{name}.bias"],
            ]
            arrays[f"{number} {name.replace('_', ' ')}"] = np.stack(norm)
    return arrays
