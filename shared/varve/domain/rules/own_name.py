"""From the third person to the first, for speakers who tell of themselves by name.

"Dana lives in Porto", as a correction of Dana's words, says "I live in Porto".
"""

import re

_ADVERBS_EN = (
    r"(?:(?:always|never|usually|often|only|really|also|just|still|sometimes|mostly|now|recently"
    r"|actually|no longer|currently|finally|officially) )*"
)
_ME_EN = r"\{me\}"
_STEPS_EN = (
    (rf"{_ME_EN}'s (?=(?:not|now|no longer|also|still|an?|allergic|living|working|based|from|in"
     r"|vegan|vegetarian|moving|married|lactose|\d+)\b)", "I am "),
    (rf"{_ME_EN}'s (?=(?:been|just|moved|quit|left|joined|started|got)\b)", "I have "),
    (rf"{_ME_EN}'s\b", "my"),
    (rf"{_ME_EN} is\b", "I am"),
    (rf"{_ME_EN} isn't\b", "I am not"),
    (rf"{_ME_EN} (?:doesn't|does not)\b", "I don't"),
    (rf"{_ME_EN} (?:hasn't|has not)\b", "I haven't"),
    (rf"{_ME_EN} ({_ADVERBS_EN})has\b", r"I \1have"),
    (rf"{_ME_EN} ({_ADVERBS_EN})does\b", r"I \1do"),
    (rf"{_ME_EN} ({_ADVERBS_EN})(\w+?)ies\b", r"I \1\2y"),
    (rf"{_ME_EN} ({_ADVERBS_EN})(\w+(?:s|x|z|ch|sh|o))es\b", r"I \1\2"),
    (rf"{_ME_EN} ({_ADVERBS_EN})(\w+[^\Ws])s\b", r"I \1\2"),
    (rf"{_ME_EN}(?= {_ADVERBS_EN}(?:\w+ed|was|left|got|quit|went|became|can|can't|cannot|will|won't"
     r"|had|used to)\b)", "I"),
)  # fmt: skip
_VERBS_ES = {
    "vive": "vivo", "reside": "resido", "trabaja": "trabajo", "es": "soy", "está": "estoy",
    "tiene": "tengo", "prefiere": "prefiero", "habla": "hablo", "usa": "uso", "come": "como",
    "bebe": "bebo", "toma": "tomo", "estudia": "estudio", "aprende": "aprendo", "odia": "odio",
    "detesta": "detesto", "aborrece": "aborrezco", "ha": "he", "dejó": "dejé", "empezó": "empecé",
    "comenzó": "comencé", "entró": "entré", "renunció": "renuncié", "dimitió": "dimití",
    "nació": "nací", "adoptó": "adopté", "volvió": "volví", "regresó": "regresé", "rompió": "rompí",
    "vivía": "vivía", "lleva": "llevo", "viaja": "viajo", "vuela": "vuelo", "perdió": "perdí",
    "muda": "mudo", "mudó": "mudé", "llama": "llamo", "casó": "casé", "jubiló": "jubilé",
    "divorció": "divorcié", "fue": "fui", "canceló": "cancelé", "anuló": "anulé",
}  # fmt: skip
_VERB_ES = "|".join(_VERBS_ES)
_ME_ES = r"\{me\}"
_BEFORE_ES = (
    r"((?:(?:ya|no|también|ahora|actualmente|antes|todavía|siempre|nunca) )*)"
)
_TASTE_ES = r"(gustan?|encantan?|interesan?|llaman?)"
_STEPS_ES = (
    (rf"\bal? {_ME_ES},? {_BEFORE_ES}le {_TASTE_ES}\b", r"\1me \2"),
    (rf"\b(?:el|la) ([^,;{{}}]{{2,40}}?) (?:de {_ME_ES}|del {_ME_ES})(?!\w)", r"mi \1"),
    (rf"{_ME_ES} {_BEFORE_ES}se (?={_VERB_ES}\b)", r"{me} \1me "),
)  # fmt: skip
_ENDING_ES = re.compile(
    rf"{_ME_ES} ((?:(?:ya|no|me|también|ahora|actualmente|antes|todavía|siempre|nunca) )*)({_VERB_ES})\b",
    re.IGNORECASE,
)
_USER_EN = ("the user", "user")
_USER_ES = ("el usuario", "la usuaria", "usuario", "usuaria")
_OTHER_NAME = r"(?! (?-i:[A-ZÁÉÍÓÚÑ]))(?! (?:and|y|e|or|o)\b)"
"""What follows one's own name in no other person's, and in no list of persons."""


def english_first_person(text: str, who: str) -> str:
    """Return "I live in Porto and my dog is old" for "Dana lives in Porto and Dana's dog …".

    What is not about the speaker stays as it is.
    """
    told = _mark(text, (*_list_names(who), *_USER_EN))
    for pattern, replacement in _STEPS_EN:
        told = re.sub(pattern, replacement, told, flags=re.IGNORECASE)
    return told if "{me}" not in told else text


def spanish_first_person(text: str, who: str) -> str:
    """Return "vivo en Bilbao" for "Pilar vive en Bilbao"; see `english_first_person`."""
    told = _mark(text, (*_list_names(who), *_USER_ES))
    for pattern, replacement in _STEPS_ES:
        told = re.sub(pattern, replacement, told, flags=re.IGNORECASE)
    told = _ENDING_ES.sub(_speak, told)
    return told if "{me}" not in told else text


def _speak(found: re.Match[str]) -> str:
    return found[1] + _VERBS_ES[found[2].lower()]


def _list_names(who: str) -> list[str]:
    """Return the speaker's name and its first part, the longest first."""
    words = who.split()
    return [who, words[0]] if len(words) > 1 else [who]


def _mark(text: str, names: tuple[str, ...]) -> str:
    """Return the text with `{me}` in the place of each name of the speaker."""
    if "{" in text:
        return text
    any_name = "|".join(re.escape(name) for name in names)
    return re.sub(
        rf"(?<!\w)(?:{any_name})(?!\w){_OTHER_NAME}",
        "{me}",
        text,
        flags=re.IGNORECASE,
    )
