"""From the first person to the third, for words that a speaker asks to remember."""

import re

DANGLING_EN = re.compile(
    r"(?:it|it's|this|that|that's|these|those|they|he|she|there|there's|here|so)\b",
    re.I,
)
DANGLING_ES = re.compile(
    r"(?:eso|esto|esta|este|ese|esa|aquello|ahí|aquí|allí|lo|la que|él|ella|ellos|ellas|así)\b",
    re.I,
)
_VERBS_EN = (
    "like|love|need|want|live|work|prefer|use|eat|drink|take|pay|drive|speak|hate|play|run|keep|know|start"
    "|leave"
    "|travel|study|wear|own|sleep|wake|walk|teach|sing|write|read|cook|swim|ride|avoid|enjoy|follow|manage"
    "|lead"
    "|bring|call|meet|visit|plan|expect|pick|order|get|buy|sell|rent|train|volunteer|fly|carry"
)
_MODALS_EN = "can|can't|cannot|will|won't|must|should|shouldn't|was|wasn't|had|hadn't|did|didn't|used to|may"
_ADVERBS_EN = "always|never|usually|often|only|really|also|just|still|sometimes|mostly|now"


def _with_s(verb: str) -> str:
    """Return the third person of a verb: takes, teaches, studies."""
    if re.search(r"(?:s|x|z|ch|sh|o)$", verb):
        return verb + "es"
    return verb[:-1] + "ies" if re.search(r"[^aeiou]y$", verb) else verb + "s"


_STEPS_EN = (
    (r"\bI(?:'m| am)\b", "{who} is"),
    (r"\bI(?:'ve| have)\b", "{who} has"),
    (r"\bI(?:'ll| will)\b", "{who} will"),
    (r"\bI (?:don't|do not)\b", "{who} does not"),
    (r"\bI (?:haven't|have not)\b", "{who} has not"),
    (rf"\bI ({_MODALS_EN})\b", r"{who} \1"),
    (rf"\bI ((?:{_ADVERBS_EN}) )?(have|do)\b", r"{who} \1{s:\2}"),
    (rf"\bI ((?:{_ADVERBS_EN}) )?({_VERBS_EN})\b", r"{who} \1{s:\2}"),
    (rf"\bI ((?:{_ADVERBS_EN}) )?(\w+ed)\b", r"{who} \1\2"),
    (r"\bmy\b", "{whose}"),
    (r"\bme\b", "{who}"),
)
_LEFT_EN = re.compile(
    r"\b(?:I|we|us|our|ours|you|your|yours|myself|yourself|mine)\b|\bI'", re.I
)
_STEPS_ES = (
    (r"\b(?:yo )?soy\b", "{who} es"),
    (r"\b(?:yo )?estoy\b", "{who} está"),
    (r"\b(?:yo )?tengo\b", "{who} tiene"),
    (r"\b(?:yo )?vivo\b", "{who} vive"),
    (r"\b(?:yo )?trabajo\b(?! (?:de|es)\b)", "{who} trabaja"),
    (r"\b(?:yo )?prefiero\b", "{who} prefiere"),
    (r"\b(?:yo )?necesito\b", "{who} necesita"),
    (r"\b(?:yo )?uso\b", "{who} usa"),
    (r"\b(?:yo )?hablo\b", "{who} habla"),
    (r"\b(?:yo )?no como\b", "{who} no come"),
    (r"\b(?:yo )?no bebo\b", "{who} no bebe"),
    (r"\bno (\{who\})", r"\1 no"),
    (r"\b(?:a mí )?(no )?me (gustan?|encantan?)\b", r"a {who} \1le \2"),
)
_MY_ES = re.compile(
    r"\bmi ([\wáéíóúñü]+(?: de [\wáéíóúñü]+)?)(?= (?:es|está|se llama|tiene|vive|trabaja|será|no)\b)",
    re.I,
)
_FEMININE_ES = re.compile(r"(?:a|ción|sión|dad|tud|madre|mujer)$", re.I)
_LEFT_ES = re.compile(
    r"\b(?:yo|mi|mis|me|mí|conmigo|nos|nuestr[oa]s?|tú|te|tu|tus|ti|usted|soy|estoy|tengo|[\wáéíóúñ]{2,}[éí]"
    r"|he|voy|debo|puedo|quiero|vamos|[a-záéíóúñ]+(?:amos|emos|imos)|llevo|salgo|hago|pago|como|bebo|tomo)\b",
    re.I,
)


def english_third_person(body: str, who: str) -> str | None:
    """Return "Dana's badge is blue and Dana has two" for "my badge is blue and I have two".

    None: the text cannot be turned safely.
    """
    text = body
    for pattern, replacement in _STEPS_EN:
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    return _filled(text, who, _LEFT_EN)


def spanish_third_person(body: str, who: str) -> str | None:
    """Return "el contrato de Dana es anual" for "mi contrato es anual".

    None: the text cannot be turned safely.
    """
    text = _MY_ES.sub(_of_whom, body)
    for pattern, replacement in _STEPS_ES:
        text = re.sub(pattern, replacement, text, flags=re.IGNORECASE)
    return _filled(text, who, _LEFT_ES)


def _of_whom(found: re.Match[str]) -> str:
    head = found[1].split()[0]
    return (
        f"{'la' if _FEMININE_ES.search(head) else 'el'} {found[1]} de {{who}}"
    )


def _filled(text: str, who: str, left_over: re.Pattern[str]) -> str | None:
    """Return the text with the name filled in; None: a first or second person or a brace is left."""
    bare = re.sub(r"\{(?:who|whose|s:\w+)\}", " ", text)
    if left_over.search(bare) or "{" in bare or "}" in bare:
        return None
    irregular = {"have": "has", "do": "does"}
    agreed = re.sub(
        r"\{s:(\w+)\}",
        lambda m: irregular.get(m[1].lower()) or _with_s(m[1]),
        text,
    )
    named = agreed.replace("{whose}", possessive(who)).replace("{who}", who)
    return named[0].upper() + named[1:] if named else None


def possessive(name: str) -> str:
    """Return the possessive of a name: "Dana's"."""
    return f"{name}'s"
