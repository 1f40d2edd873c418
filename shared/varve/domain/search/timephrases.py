"""How expressions of time look, in several languages, and the English for the names in them.

Months, weekdays, units and most relative words come from the date parser's locale data.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import Any
from unicodedata import normalize

from varve.domain.search.timespans import MONTHS, WEEKDAYS

_HINT = re.compile(
    r"(?i)(?<!\w)(?:(?:yester|to|mon|tues|wednes|thurs|fri|satur|sun)day|tonight|tomorrow|morning|afternoon"
    r"|evening|night|days?|weeks?|months?|quarters?|years?|q[1-4]|jan(?:u\w+|vier|eiro)?|f[eé][bv](?:\w+r\w*)?"
    r"|mar|m(?:arch|arzo|ars|[äa]rz)|março|maart|apri?l?e?|abril|avril|may|mayo|mai|maio|maggio|mei|june?i?"
    r"|junio|junho|juin|giugno|july?i?|julio|julho|juillet|luglio|aug(?:ust\w*)?|agosto|ao[ûu]t|outubro"
    r"|sep(?:t\w*|tember|t?iembre)?|settembre|setiembre|setembro|o[ckt]t\w*|nov(?:i?em\w+)?|d[eé][cz](?:em\w+)?"
    r"|dici?embre|enero|gennaio|hoy|\w*ayer|antier|anoche|ma[ñn]ana|semanas?|mes(?:es)?|a[ñn]os?|d[íi]as?"
    r"|trimestres?|lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|\w*(?:tag|dag)e?n?|sabato|domenica|tarde|noche|j[äa]nner|mittwoch"
    r"|\w*gestern|heute|wochen?|monate?n?|jahre?n?|quartal|\w*hier|aujourd|demain|semaines?|mois|ann[ée]es?|ans"
    r"|jours?|\w+d[iì]|dimanche|\w+-feira|oggi|\w*ieri|domani|settiman\w|mesi|mese|ann[oi]|giorn[oi]|hoje"
    r"|\w*ontem|amanh[ãa]|m[êe]s|dias|vandaag|\w*gisteren|\w*morgen|weken|maand|maanden|jaar|jr|mnd)(?!\w)"
    r"|(?<!\d)(?:19\d\d|20\d\d|2100)(?!\d)"
)
_WORD = re.compile(r"\w+(?:-feira)?", re.IGNORECASE)
_LANGUAGES = (
    "nl",
    "pt",
    "it",
    "fr",
    "de",
    "es",
    "en",
)  # a later one decides what a shared word means
_ARTICLE = "(?:the |el |la |los |las |os |as |les? |l['’]|de |den |die |gli |il )?"
_LAST = "(?:last|past|[úu]ltim[oa]s?|pasad[oa]s|derni[eè]re?s|ultim[ie]|letzten|afgelopen|laatste)"
_DAY = "(?:the |el )?(?P<day>0?[1-9]|[12][0-9]|3[01])(?:st|nd|rd|th|[.º])?"
_FORMS = {  # in order of trial
    "rolling": (f"(?:the|these|those|l[oa]s|est[oa]s|[oa]s|les|die|den|gli|le|de) {_LAST} {{n}} {{unit}}",
                "(?:this )?past {n} {unit}", "(?:les |l[oa]s )?{n} (?:derni[eè]re?s|[úu]ltim[oa]s) {unit}"),
    "before_last": ("(?:the )?{span} before last", "(?:el |la )?{span} antepasad[oa]"),
    "over": ("(?:the |this )?past {span}", "(?:el |la )?[úu]ltim[oa] {span}"),
    "over_last": ("the last {span}",),
    "count": (f"{_LAST} {{n}} {{unit}}",),
    "ahead": ("(?:the |los |las )?(?:next|pr[óo]xim[oa]s) {n} {unit}",),
    "ago": (),  # from the locale data
    "weekday_week": (
        "(?:el )?{weekday},?(?: of| de)?(?: la)? (?:{turn} (?:week|semana)|semana {after})",),
    "month_turn": ("{month},?(?: of| del?)?(?: el)? (?:{turn} (?:year|año)|año {after})",),
    "turned": ("(?:el |la |los |las )?{turn} {x}", f"{_ARTICLE}{{x}} {{after}}"),
    "fixed": ("{fixed}",),
    "iso": ("(?P<iso>[12][0-9]{3}-[01][0-9]-[0-3][0-9])",),
    "day_month": (f"(?:{{anyday}},? )?{_DAY}(?: of| de)? {{anymonth}}(?:,?(?: del?)? {{year}})?",
                  f"(?:{{anyday}},? )?{{anymonth}} {_DAY}(?:,? {{year}})?"),
    "month_year": ("{anymonth},?(?: of| del?)? {year}",),
    "quarter_year": ("(?:the |el )?{q},?(?: of| del?)? {year}", "{year}[ -]{q}"),
    "iso_month": ("(?P<iso>[12][0-9]{3}-(?:0[1-9]|1[0-2]))",),
    "quarter": ("(?:the |el )?{q}",), "month": ("{month}",), "weekday": ("{weekday}",), "year": ("{year}",),
}  # fmt: skip
LEADS = {
    "in": "in(?: the year)?|during|throughout|within|over|en(?: el(?: año)?)?|durante(?: el)?|im|em|nel",
    "of": "of|del?|du|di", "on": "on|el|am|le", "at": "at|for|para(?: el)?|für|pour", "by": "by",
    "between": "between|entre(?: el)?|zwischen", "from": "from|vom",
    "since": "(?:ever )?since|desde(?: el)?|a partir del?|seit|depuis|sinds",
    "before": "before|prior to|antes del?|vor|avant|prima di",
    "after": "after|following|despu[ée]s del?|tras(?: el)?|nach|apr[èe]s|depois de|dopo",
    "until": "until|till|up to|through|hasta(?: el)?|bis|jusqu['’](?:en|à)|at[ée]|fino a|tot",
}  # fmt: skip
_EDGE = (
    "(?:the )?(?:very )?(?:beginning|start|end|middle|(?:first|second) half) of|early|mid|late"
    "|(?:a |el |la )?(?:principios?|comienzos|inicios|mediados|final(?:es)?|fin(?:es)?) del?"
)
_PART = (
    "(?: (?:morning|afternoon|evening|night)| por la (?:mañana|tarde|noche))?(?:['’]s)?"
)
_LEFT, _RIGHT = r"(?:(?<![\w#$€£/\\.@'’-])|(?<=\bmid-))", r"(?![\w/\\%°€$£@-]|[.,:]\d)"
TO = re.compile(
    r"(?i)\s*(?:to|until|till|through|up to|al?|hasta(?: el)?|bis|à|tot|-|–|—)\s*"
)
AND = re.compile(r"(?i)\s*(?:and|y(?: el)?|und|et|e)\s*")
OR = re.compile(r"(?i),?\s*(?:and|or|y|o|und|oder|et|ou|e)\s*")
_WORDS = {  # what the locale data lack
    "last": "last pasado pasada letzte letzten letztes dernier dernière scorso scorsa passado passada vorige",
    "this": "this este esta diese diesen dieses cette questo questa deze",
    "next": "next próximo próxima nächste nächsten nächstes prochain prochaine prossimo prossima volgende"
    " que_viene",
    "quarter": "quarter quarters trimestre trimestres Quartal",
    "1 day ago": "last_night anoche", "2 day ago": "antes_de_ayer antier the_day_before_yesterday",
    "in 2 day": "pasado_mañana the_day_after_tomorrow", "2": "dos due dois twee",
    "3": "tres tre três drie", "4": "cuatro quattro quatro vier", "5": "cinco cinque vijf",
    "0 day ago": "tonight this_morning this_afternoon this_evening esta_mañana esta_tarde esta_noche",
    "6": "seis sei zes", "7": "siete", "8": "ocho", "9": "nueve", "10": "diez", "12": "doce",
    "q1": "q1 first_quarter primer_trimestre", "q2": "q2 second_quarter segundo_trimestre",
    "q3": "q3 third_quarter tercer_trimestre", "q4": "q4 fourth_quarter cuarto_trimestre",
}  # fmt: skip
# These mean other things too; "Marco" is what is left of a Portuguese March without its cedilla.
_UNSAFE = re.compile(
    "till date|morgen|nu|set|marco|segunda|ter[çc]a|quarta|quinta|sexta|.* (?:mo|wk|yr|mon|sem|sett|ant)"
)
_DAYS = re.compile(r"(in )?\d (day|week|month|year)( ago)?")
_COUNTED = re.compile(r"\(\\d\+\+\[\.,\]\?\\d\*\+\) ([^ ]+)")
_PLACES = {
    "{x}": "(?:{span}|{weekday}|{month})", "{year}": "(?P<year>19[0-9]{2}|20[0-9]{2}|2100)",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Grammar:
    """The patterns, with English for the names they hold by kind."""

    names: Mapping[str, Mapping[str, str]]
    forms: Sequence[tuple[str, str]]
    scan: re.Pattern[str]
    lead: re.Pattern[str]


def hints_at_time(text: str) -> bool:
    """Whether any word of the text may tell a time."""
    return any(map(_hints, _WORD.findall(text)))


@lru_cache(maxsize=4_096)
def _hints(word: str) -> bool:
    return _HINT.search(word) is not None


@cache
def grammar() -> Grammar:
    """The patterns with the names that the parser's locale data give them."""
    package = "dateparser.data.date_translation_data"
    infos = [import_module(f"{package}.{code}").info for code in _LANGUAGES]
    names = _names(infos)
    ago = _ago_templates(infos)
    forms = [
        (form, _expand(text, names))
        for form, texts in _FORMS.items()
        for text in texts or ago
    ]
    # Any word may stand for a number here, because all of them in each form take long to compile.
    loose = (re.sub(r"\(\?P<n>[^)]*\)", r"\\w+", template) for _, template in forms)
    nameless = [re.sub(r"\(\?P<\w+>", "(?:", template) for template in loose]
    anything = "|".join(
        f"(?P<f{number}>{template})" for number, template in enumerate(nameless)
    )
    kinds = "|".join(f"(?P<{kind}>{words})" for kind, words in LEADS.items())
    return Grammar(
        {
            kind: {fold(name): english for name, english in known.items()}
            for kind, known in names.items()
        },
        forms,
        re.compile(rf"(?i){_LEFT}(?:{anything}){_PART}{_RIGHT}"),
        re.compile(
            rf"(?i)(?<![\w'’-])(?:(?:{kinds})\s+)?(?P<edge>(?:{_EDGE})[\s-]+)?$"
        ),
    )


def _ago_templates(infos: Iterable[Mapping[str, Any]]) -> Sequence[str]:
    """ "{n} {unit} ago", "hace {n} {unit}" and their like"""
    entries = [entry for info in infos for entry in info["relative-type-regex"].items()]
    patterns = [
        pattern
        for english, known in entries
        if english.endswith(" ago")
        for pattern in known
    ]
    return sorted(
        {
            _COUNTED.sub("{n} {unit}", pattern)
            for pattern in patterns
            if _COUNTED.search(pattern)
        }
    )


def _names(infos: Sequence[Mapping[str, Any]]) -> Mapping[str, Mapping[str, str]]:
    """English for the names of each kind; short names only where there is no longer one."""
    relative: dict[str, str] = {}
    numbers: dict[str, str] = {}
    for info in infos:
        relative |= {
            phrase: key
            for key, phrases in info["relative-type"].items()
            for phrase in phrases
        }
        rules = [
            entry
            for rule in info.get("simplifications") or ()
            for entry in rule.items()
        ]
        numbers |= {word: digits for word, digits in rules if word.isalpha()}
    relative = {
        k: v
        for k, v in relative.items()
        if _DAYS.fullmatch(v) and not _UNSAFE.fullmatch(k)
    }
    turns = _own("last|this|next")
    spans = _called(infos, ("week", "month", "year"), 3) | _own("quarter")
    return {
        "fixed": relative | _own(_DAYS.pattern), "turn": turns, "q": _own("q[1-4]"), "span": spans,
        "after": {k: v for k, v in turns.items() if k not in ("last", "this", "next")},
        "month": _called(infos, MONTHS, 5), "weekday": _called(infos, WEEKDAYS, 5),
        "anymonth": _called(infos, MONTHS, 5) | _called(infos[-1:], MONTHS, 3),
        "unit": spans | _called(infos, ("day",), 3),
        "n": {k: v for k, v in numbers.items() if v.isdigit()} | _own(r"\d+"),
    }  # fmt: skip


def _own(shape: str) -> dict[str, str]:
    known = {
        english: words
        for english, words in _WORDS.items()
        if re.fullmatch(shape, english)
    }
    return {
        word.replace("_", " "): english
        for english, words in known.items()
        for word in words.split()
    }


def _called(
    infos: Iterable[Mapping[str, Any]], keys: Iterable[str], shortest: int
) -> dict[str, str]:
    """The names that are so long at least, or the longest there are, of these things."""
    return {
        name: key
        for info in infos
        for key in keys
        for name in info[key]
        if len(name) >= shortest or len(name) == max(map(len, info[key]))
        if not _UNSAFE.fullmatch(name)
    }


def _expand(template: str, names: Mapping[str, Mapping[str, str]]) -> str:
    """A template with the names in the place of their kinds."""
    for place, pattern in _PLACES.items():
        template = template.replace(place, pattern)
    for kind, known in [*names.items(), ("anyday", names["weekday"])]:
        words = sorted(
            {
                re.escape(form)
                for name in known
                for form in (name.lower(), fold(name))
                if not _UNSAFE.fullmatch(form)
            },
            key=len,
        )
        digits = ["[0-9]{1,3}"] if kind == "n" else []
        template = template.replace(
            f"{{{kind}}}", f"(?P<{kind}>{'|'.join([*reversed(words), *digits])})"
        )
    return template


def fold(word: str) -> str:
    """Without case and accents, which people leave out."""
    return normalize("NFKD", word.casefold()).encode("ascii", "ignore").decode()
