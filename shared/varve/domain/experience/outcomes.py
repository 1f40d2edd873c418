"""How an episode ended: an outcome that was stated wins, then what the words give away."""

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
    """An outcome, where it comes from (`stated`, `cue`, `none`) and the words behind it."""

    outcome: Outcome
    source: str
    because: str = ""


UNDECIDED = Verdict(Outcome.UNKNOWN, "none")


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(
        "|".join(rf"(?:{pattern})" for pattern in patterns), re.IGNORECASE
    )


_NOT = r"(?:n['’]t|\s+not)"
_FAILED = _any(
    rf"\b(?:tests?|build|checks?|pipeline|deploy\w*|migration)\b[^.!?\n]{{0,30}}\b(?:fail\w*|broken?|broke|red"
    rf"|(?:do|does|did){_NOT}\s+pass)\b",
    rf"\b(?:does|did|do|is|was){_NOT}\s+(?:work\w*|help\w*|fix\w*|solved?|right|correct)\b",
    r"\bstill\s+(?:broken|fails?|failing|happens?|happening|wrong|there|red)\b",
    r"\b(?:that|this|it)(?:['’]s|\s+is|\s+was)\s+(?:wrong|incorrect|not\s+it)\b",
    r"\b(?:pruebas?|tests?|compilaci[oó]n|despliegue)\b[^.!?\n]{0,30}\b(?:fall\w+|rot[oa]s?|en\s+rojo)",
    r"\bno\s+(?:funcion\w+|sirve|sirvi[oó]|pasan?|compila|se\s+arregl\w+)\b",
    r"\bsigue\s+(?:fallando|rot[oa]|igual|pasando|sin)\b",
    r"\beso\s+(?:no\s+es|es\s+incorrecto|est[aá]\s+mal)\b",
)
_WORKED = _any(
    r"\b(?:tests?|build|checks?|pipeline|deploy\w*|migration)\b[^.!?\n]{0,30}\b(?:pass\w*|green|succeed\w*|ok)\b",
    r"\b(?:that|this|it)(?:['’]s)?\s+(?:now\s+)?(?:works?|worked|fixed|solved|did\s+it|helped)\b",
    r"\b(?:works|fixed|solved|resolved)\s+(?:now|it|the|thank)\w*",
    r"\b(?:yes,?\s+)?(?:exactly|that\s+was\s+it|that['’]s\s+(?:right|correct|it))\b",
    r"\b(?:pruebas?|tests?|compilaci[oó]n|despliegue)\b[^.!?\n]{0,30}\b(?:pasan|pasaron|correct\w+|en\s+verde)",
    r"\b(?:ya|ahora|as[ií])\s+(?:s[ií]\s+)?(?:funciona|pasa|pasan|compila)\b",
    r"\b(?:funciona|resuelto|arreglado|solucionado)\s+(?:ya|ahora|gracias|perfect\w+)\b|\b(?:qued[oó]|est[aá])\s+"
    r"(?:resuelt|arreglad|solucionad)[oa]\b",
    r"\b(?:exacto|correcto|eso\s+era)\b",
)
_CORRECTED = _any(
    r"^\s*no[,.:;!]?\s+(?:it|that|the|this|actually|era|es|fue|en\s+realidad|eso|la|el)\b",
    r"\bactually,?\s+(?:it|the|that|this|we|you)\b",
    r"\byou\s+(?:are|were)\s+wrong\b",
    r"\bnot\s+(?:the|a|an)\s+\w[\w\s-]{0,40},?\s+(?:but|it\s+was)\b",
    r"\ben\s+realidad\b",
    r"\bte\s+equivoc\w+\b",
    r"\bno\s+(?:era|es|fue)\s+[^.!?\n]{1,60},?\s+(?:sino|era|es|fue)\b",
)


def is_correction(role: str, text: str) -> bool:
    """Whether a user's message says that what was thought or done before was wrong."""
    return role == "user" and bool(_CORRECTED.search(text))


def cued(said: Sequence[tuple[str, str]]) -> Verdict:
    """What (role, text) pairs give away; the last message with a cue decides.

    Tests or a build that passed or failed count whoever reports them; a correction by the user is a
    failure, a confirmation a success, both in one message are PARTIAL.
    """
    for role, text in reversed(said):
        failed = _FAILED.search(text) or (
            _CORRECTED.search(text) if role == "user" else None
        )
        worked = (
            _WORKED.search(_FAILED.sub(" ", text))
            if role in {"user", "tool", "assistant"}
            else None
        )
        if failed and worked:
            return Verdict(
                Outcome.PARTIAL, "cue", f"{worked[0].strip()} / {failed[0].strip()}"
            )
        if failed or worked:
            found = failed or worked
            outcome = Outcome.FAILURE if failed else Outcome.SUCCESS
            return Verdict(outcome, "cue", found[0].strip() if found else "")
    return UNDECIDED


def judged(stated: Sequence[str], said: Sequence[tuple[str, str]]) -> Verdict:
    """The last outcome that a message states, else what the words give away."""
    if stated:
        return Verdict(Outcome(stated[-1].upper()), "stated", "a message says so")
    return cued(said)
