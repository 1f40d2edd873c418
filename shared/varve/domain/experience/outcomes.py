"""The outcome of an episode: one that is stated, or else one inferred from the words."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """How an episode ended."""

    SUCCESS = "SUCCESS"
    FAILURE = "FAILURE"
    PARTIAL = "PARTIAL"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An outcome, its source (`stated`, `cue`, `none`) and the words behind it."""

    outcome: Outcome
    source: str
    because: str = ""


UNDECIDED = Verdict(Outcome.UNKNOWN, "none")


def _compile(*patterns: str) -> re.Pattern[str]:
    groups = [f"(?:{pattern})" for pattern in patterns]
    return re.compile("|".join(groups), re.IGNORECASE)


_NOT = r"(?:n['’]t|\s+not)"
_FAILED = _compile(
    rf"\b(?:tests?|build|checks?|pipeline|deploy\w*|migration)\b[^.!?\n]{{0,30}}\b(?:fail\w*|broken?|broke|red"
    rf"|(?:do|does|did){_NOT}\s+pass)\b",
    rf"\b(?:does|did|do|is|was){_NOT}\s+(?:work\w*|help\w*|fix\w*|solved?|right|correct)\b",
    r"\bstill\s+(?:broken|fails?|failing|happens?|happening|wrong|there|red)\b",
    # "It is wrong to …" and "… is it wrong?" tell nothing of the work.
    r"\b(?:that|this|it)(?:['’]s|\s+is|\s+was)\s+(?:wrong|incorrect|not\s+it)\b"
    r"(?!\s+(?:with|of|to|for)\b)(?![^.!?\n]{0,80}\?)",
    r"\b(?:pruebas?|tests?|compilaci[oó]n|despliegue)\b[^.!?\n]{0,30}\b(?:fall\w+|rot[oa]s?|en\s+rojo)",
    r"\bno\s+(?:funcion\w+|sirve|sirvi[oó]|pasan?|compila|se\s+arregl\w+)\b",
    r"\bsigue\s+(?:fallando|rot[oa]|igual|pasando|sin)\b",
    r"\beso\s+(?:no\s+es|es\s+incorrecto|est[aá]\s+mal)\b",
)
_PASSED = _compile(
    r"\b(?:tests?|build|checks?|pipeline|deploy\w*|migration)\b[^.!?\n]{0,30}\b(?:pass\w*|green|succeed\w*|ok)\b",
    r"\b(?:pruebas?|tests?|compilaci[oó]n|despliegue)\b[^.!?\n]{0,30}\b(?:pasan|pasaron|correct\w+|en\s+verde)",
)
_CONFIRMED = _compile(
    r"\b(?:that|this|it)(?:['’]s)?\s+(?:now\s+)?(?:works?|worked|fixed|solved|did\s+it|helped)\b",
    r"\b(?:works|fixed|solved|resolved)\s+(?:now|it|the|thank)\w*",
    r"\b(?:yes,?\s+)?(?:exactly|that\s+was\s+it|that['’]s\s+(?:right|correct|it))\b",
    r"\b(?:ya|ahora|as[ií])\s+(?:s[ií]\s+)?(?:funciona|pasa|pasan|compila)\b",
    r"\b(?:funciona|resuelto|arreglado|solucionado)\s+(?:ya|ahora|gracias|perfect\w+)\b|\b(?:qued[oó]|est[aá])\s+"
    r"(?:resuelt|arreglad|solucionad)[oa]\b",
    r"\b(?:exacto|correcto|eso\s+era)\b",
)
_CORRECTED = _compile(
    r"^\s*no[,.:;!]?\s+(?:it|that|the|this|actually|era|es|fue|en\s+realidad|eso|la|el)\b",
    r"\bactually,?\s+(?:it|the|that|this|we|you)\b",
    r"\byou\s+(?:are|were)\s+wrong\b",
    r"\bnot\s+(?:the|a|an)\s+\w[\w\s-]{0,40},?\s+(?:but|it\s+was)\b",
    r"\ben\s+realidad\b",
    r"\bte\s+equivoc\w+\b",
    r"\bno\s+(?:era|es|fue)\s+[^.!?\n]{1,60},?\s+(?:sino|era|es|fue)\b",
)


def is_correction(role: str, text: str) -> bool:
    """Return whether a user's message says that an earlier thought or action was wrong."""
    if role != "user":
        return False
    return _CORRECTED.search(text) is not None


def read_cues(said: Sequence[tuple[str, str]]) -> Verdict:
    """Return the outcome that (role, text) pairs imply; the last message with a cue decides.

    Tests or a build that passed or failed count in a message of any role. A correction by
    the user is a failure, a confirmation a success; both in one message are PARTIAL.
    """
    for role, text in reversed(said):
        failed = _find_failure(role, text)
        # The words of a failure tell of no success.
        rest = text if failed is None else _FAILED.sub(" ", text)
        worked = _find_success(role, rest)
        if failed and worked:
            return Verdict(Outcome.PARTIAL, "cue", f"{worked} / {failed}")
        if failed is not None:
            return Verdict(Outcome.FAILURE, "cue", failed)
        if worked is not None:
            return Verdict(Outcome.SUCCESS, "cue", worked)
    return UNDECIDED


def _find_failure(role: str, text: str) -> str | None:
    """Return the words that say something failed, or a user's correction."""
    found = _FAILED.search(text)
    if not found and role == "user":
        found = _CORRECTED.search(text)
    return found[0].strip() if found else None


def _find_success(role: str, text: str) -> str | None:
    """Return the words that say tests or a build passed, or confirm that something worked.

    What the assistant calls right or working ("places that work for children") confirms
    nothing.
    """
    if role not in {"user", "tool", "assistant"}:
        return None
    found = _PASSED.search(text)
    if not found and role != "assistant":
        found = _CONFIRMED.search(text)
    return found[0].strip() if found else None


def judge_outcome(
    stated: Sequence[str], said: Sequence[tuple[str, str]]
) -> Verdict:
    """Return the last outcome that a message states, else the one the words imply."""
    if stated:
        last = Outcome(stated[-1].upper())
        return Verdict(last, "stated", "a message says so")
    return read_cues(said)
