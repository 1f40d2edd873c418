"""The relevance of a text to a prompt, on a scale with a zero: is anything worth injecting?

Search ranks all records, so that even a prompt about nothing in memory has a first result. Here a
text is compared with sentences about nothing in particular, in the same embedder. That makes the
scale much the same for every embedder.
"""

import math
import re
from collections.abc import Sequence

import numpy as np

from varve.domain.language.stems import stemmer
from varve.domain.language.stopwords import EMPTY_IN_PROMPTS
from varve.domain.language.tokens import fold
from varve.domain.record import Vector

FLOOR = 0.16
"""The least relevance of the best entry for a block to be worth its tokens.

Calibrated on labelled prompts over the project's corpus; `tests/e2e/test_context.py` has these
prompts, and others that had no part in the calibration.
"""
NAMED_FLOOR = 0.08
"""The least relevance of the best entry if the prompt names a person or thing of the graph."""
ENTRY_FLOOR = 0.06
"""The least relevance of every entry."""
WORDS_WEIGHT = 0.15
_NEAREST = 3

BACKGROUND = (
    "How do I write a function in a programming language?",
    "What is the history of this country?",
    "Explain the theory in simple words.",
    "Write a short poem about nature.",
    "Who wrote the famous novel?",
    "What is the price of the product?",
    "Translate the sentence into another language.",
    "How far is the moon from the earth?",
    "Compare the two methods and list the differences.",
    "What are the rules of the game?",
    "Give me a recipe for the weekend.",
    "Good morning, how are you today?",
    "¿Cuál es la historia de este país?",
    "Explica la teoría con palabras sencillas.",
    "Escribe un poema corto sobre la naturaleza.",
    "¿Quién escribió la famosa novela?",
    "¿Cuánto cuesta el producto en la tienda?",
    "Traduce la frase a otro idioma.",
    "¿Qué distancia hay de la luna a la tierra?",
    "Compara los dos métodos y di las diferencias.",
    "¿Cuáles son las reglas del juego?",
    "Buenos días, ¿qué tal estás hoy?",
)
"""Sentences about nothing in particular, in the languages that the rules read."""

_WORD = re.compile(r"[^\W_]+(?:[-.'][^\W_]+)*")


def telling_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning; a code such as `NW-53977` is one word."""
    words = (word.removesuffix("'s") for word in _WORD.findall(fold(text)))
    kept = [
        word
        for word in words
        if word not in EMPTY_IN_PROMPTS and _is_long(word)
    ]
    return frozenset(stemmer("english").stemWords(kept))


def _is_long(word: str) -> bool:
    """Return whether a word has more than one letter; one of another script is a word."""
    return len(word) > 1 or not word.isascii()


def relevances(
    prompt: str,
    prompt_vector: Vector,
    texts: Sequence[str],
    vectors: Sequence[Vector],
    nothing: Sequence[Vector],
) -> list[float]:
    """Return a number for each text: 0 if it is as near to the prompt as any text is.

    It is the text's cosine to the prompt, minus a zero, plus a share for the prompt's words that
    the text holds. The zero is the mean of the prompt's three greatest cosines to the vectors of
    `BACKGROUND`, which are `nothing`. Rare words count more.
    """
    background = [float(vector @ prompt_vector) for vector in nothing]
    nearest = sorted(background, reverse=True)[:_NEAREST]
    zero = float(np.mean(nearest)) if nearest else 0.0
    shares = word_shares(prompt, texts)
    return [
        float(vector @ prompt_vector) - zero + WORDS_WEIGHT * share
        for vector, share in zip(vectors, shares, strict=True)
    ]


def word_shares(prompt: str, texts: Sequence[str]) -> list[float]:
    """Return the share of the prompt's words that each text holds, in [0, 1]; rare words weigh more."""
    asked = telling_stems(prompt)
    held = [telling_stems(text) & asked for text in texts]
    weights: dict[str, float] = {}
    for word in asked:
        holding = sum(word in words for words in held)
        weights[word] = _rarity(holding, len(texts))
    total = sum(weights.values()) or 1.0
    shares: list[float] = []
    for words in held:
        weight = sum(weights[word] for word in words)
        shares.append(weight / total)
    return shares


def _rarity(texts: int, of: int) -> float:
    """Return the inverse document frequency of BM25 (Robertson and Zaragoza, 2009), kept above 0."""
    return math.log(1.0 + (of + 0.5) / (texts + 0.5))
