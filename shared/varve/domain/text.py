"""Words as they are before they are remembered: without our own echo, in passages of bounded size."""

import re
from collections.abc import Iterator

INJECTED_TAGS = ("varve-memory", "memory", "memories", "relevant_memories", "learned_patterns")
"""Elements that wrap remembered text in a prompt: ours, and those of the frameworks we plug into."""

_OWN_TAG = INJECTED_TAGS[0]
_OPENING = re.compile(rf"<({'|'.join(INJECTED_TAGS)})(?:\s[^<>]*)?>", re.IGNORECASE)
_CLOSING = {tag: re.compile(rf"</{tag}\s*>", re.IGNORECASE) for tag in INJECTED_TAGS}

MAX_PASSAGE_CHARACTERS = 2_000
_BREAKS = ("\n\n", "\n", ". ", "? ", "! ", " ")


def without_injected(text: str) -> str:
    """The text without blocks of recalled memory, so that an agent's recall is never learnt anew.

    A block that is not closed is left as it is, but for our own, which a limit on the prompt may have
    cut off: nobody else writes that tag.
    """
    kept: list[str] = []
    at = 0
    never_closed: set[str] = set()
    for opening in _OPENING.finditer(text):
        tag = opening[1].lower()
        if opening.start() < at or tag in never_closed:
            continue
        closing = _CLOSING[tag].search(text, opening.end())
        if closing is None and tag != _OWN_TAG:
            never_closed.add(tag)
            continue
        kept.append(text[at : opening.start()])
        at = closing.end() if closing else len(text)
    return "".join([*kept, text[at:]]).strip()


def passages(text: str, limit: int = MAX_PASSAGE_CHARACTERS) -> Iterator[str]:
    """The text in pieces of at most `limit` characters, cut at paragraphs, sentences or words."""
    rest = text.strip()
    while len(rest) > limit:
        cut = _cut(rest, limit)
        yield rest[:cut].rstrip()
        rest = rest[cut:].lstrip()
    if rest:
        yield rest


def _cut(text: str, limit: int) -> int:
    """Where to cut: after the last break of the strongest sort in the second half, else at the limit."""
    for mark in _BREAKS:
        at = text.rfind(mark, limit // 2, limit)
        if at >= 0:
            return at + len(mark)
    return limit


def salience(text: str) -> float:
    """How much a turn is likely to matter, in [0.05, 0.5]: greetings little, whole sentences more.

    Counts words up to twenty. Facts, which an extractor judged worth keeping, start where this ends.
    """
    return max(0.05, 0.5 * min(1.0, len(text.split()) / 20))


def estimated_tokens(text: str) -> int:
    """Tokens a model will count for the text, estimated at four UTF-8 bytes each, rounded up.

    The usual rule of thumb for byte-pair vocabularies on English (OpenAI's tokenizer documentation);
    it overstates scripts of several bytes a character, which keeps a budget on the safe side.
    """
    return -(-len(text.encode()) // 4)
