"""Time words in a question: the phrase, the window it means, and the words that are left.

Patterns find the phrase and put it into plain English; a date parser, whose locale data also name months,
weekdays and units, says which day that is. It is loaded only for a text that hints at time. A phrase that
may mean anything else is left alone: a wrong window hides what was asked for.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from varve.domain.calendar import Grain, start_of_day
from varve.domain.search.timephrases import (
    AND,
    LEADS,
    OR,
    TO,
    Grammar,
    fold,
    grammar,
    hints_at_time,
)
from varve.domain.search.timespans import MONTHS, WEEKDAYS, Parts, Span, read


@dataclass(frozen=True, slots=True)
class TimeWords:
    """What was understood: a half-open window in UTC, and the text with and without the phrase."""

    since: datetime | None
    until: datetime | None
    grain: Grain
    phrase: str
    rest: str


_NEARBY = 200  # so much of the text around an expression can change its meaning
_NAMED = "in of since before after until from between"
_BARE = {  # forms that are words of time only after these
    "month": _NAMED, "iso_month": _NAMED, "quarter": _NAMED, "year": _NAMED, "over_last": "in",
    "weekday": "on of since before after until between", "count": "in of at from since",
}  # fmt: skip
# "the notes from last week" were made in it; "from November 2026" is where something begins.
_AFTER_FROM = (
    "before_last", "rolling", "over", "over_last", "count", "ahead", "ago", "weekday_week", "turned", "fixed",
    "year",
)  # fmt: skip
_FRENCH = r"(?!.*\b(?:est|les?|avons|nous|je|qui|que|quoi|qu['’]|j['’]ai))"
_STATE = (  # a question about the present: "today" means now
    r"(?is)^(?=.*\b(?:who\w*|what|where|which|how|qu[ée]|qui[ée]n|d[óo]nde|cu[áa]l|c[óo]mo|w[eo]r?|was|wie|où"
    r"|qui|quel\w*|dove|chi|onde|quem|qual|waar)\b|\W*(?:is|are|does|do)\b)(?!.*(?:\b(?:did|was|were|had|have|said"
    r"|told|been|happened|fue|era|hizo|hice|dij\w+|tuvo|hubo|ha|han|he|hemos|habe|hat|haben|ai|avons|ho)\b"
    r"|\w\w(?<!ne)ed\b|(?-i:\b[a-zñ]{3,}(?:é|ó|aste|iste|amos|imos|aron|ieron|aba|ía)s?\b)))"
)
_QUANTITY = (
    r"(?i)\s*[€$£%]|\s+(?:eur|usd|gbp|people|men|women|children|[kmc]?m|[km]?g|ml|[kmgt]b|k?wh?|rpm|mah|hp|kcal"
    r"|(?!(?:does|this|across|always|towards|unless|versus|entonces|adem[áa]s|despu[ée]s|antes)\b)[a-zñ]{3,}s)\b"
)
_ORDINAL = "(?:st|nd|rd|th)?"
_HOW_IT_WAS = re.compile(  # "what was 2025 like?"
    r"(?i)\W*(?:how|what|c[óo]mo|qu[ée] tal)\W+(?:was|is|has|had|fue|va|estuvo|ha sido)\W+"
    r"(?:(?:the year|el a[ñn]o)\W+)?"
)
_REFUSED = (  # form, preposition, before, phrase, behind
    ("", "", r"(?i)\b(?:than|versus|vs\.?|compared (?:to|with)|every|each|cada|todos los) (?:in |en )?$",
     "", ""),
    ("turned|fixed|over|rolling", "", r"(?i)(?:['’]s|\b(?:my|his|her|their|our|your|its|whose|mi|su|tu)) $",
     "", ""),
    ("turned", "", r"(?i)\bthe $", "(?i)last|next", ""),
    ("turned|over|rolling|count|quarter$", "", "", "", r"(?i) (?:of|del?)\b"),
    ("over_last", "", "", "", " (?:before|at|that|when)"),
    ("ago", "", r"(?i)\b(?:over|under|about|around|roughly|nearly|almost|least|most|casi) $", "", ""),
    ("ago", "", r"(?i)\bhalf $", "", ""),
    ("ago", "", r"(?i)\b(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten)"
     r"(?: (?:years?|months?|weeks?|days?),?)? (?:and|or|to) $", "", ""),
    ("ago|over|over_last|rolling|count", "", "", "",
     r"(?i) (?:and|y|e|et|und) (?:a half|medi[oa]|mei[oa]|demie?|(?!(?:this|last|past|next|est[ea]|la|el) )"
     r"\w+ (?:years?|months?|weeks?|days?|mes(?:es)?|semanas?|d[íi]as?|mois|Monate?n?|Wochen?|Tage?n?)\b"
     "(?! ago))"),
    ("before_last", "", "", "", rf"(?i) (?:{'|'.join((*WEEKDAYS, *MONTHS))}|night|week|month|quarter|year"
     "|summer|winter|spring|autumn|fall|christmas|easter)\\b"),
    ("ago", "", "", "(?i)hace", "(?i) que"),
    ("ago", "", r"(?i)\b(?:(?:viv|trabaj|estudi)[aeo]n?|est[áa]|lleva)\b", "(?i)hace", ""),
    ("fixed", "", r"\w[^.!?\n]*$", "Yesterday|Today|Tomorrow|Tonight", ""),
    ("month$", "", "", "(?i).*['’]s$|(?-i:Mars)", ""),
    ("month$", "of|before|after|since|until", "",
     "(?i)(?:april|may|june|august|abril|julio|avril|juli|mai|mei)$",
     r" (?:[A-Z]|(?:was|is|has|had|came|left|said|told|went|got|did|does|will|\w+ed)\b)"),
    ("month$", "of|before|after|since|until", "", "(?:Abril|Julio|Mayo|Agosto|Avril)$", ""),
    ("month$", "of", r"(?i)\b(?:cinco|dos|tres|cuatro|seis|siete|ocho|nueve|diez) de $", "", ""),
    ("day_month", "$", "", rf"(?i)(?:(?:the )?\d+{_ORDINAL} (?:may|march)|(?:may|march) \d+)$", r" +\w"),
    ("day_month", "", "", "",
     rf"(?i)\s*(?:and|or|to|,|&|–|y|o|al?) *\d\d?{_ORDINAL}\b(?! (?:of |de )?[a-z]{{3}})"),
    ("day_month", "", rf"(?i)(?<!\d)\d\d?{_ORDINAL} *(?:and|or|to|,|&|–|y|o|al?) *$", r"\d", ""),
    ("day_month", "", "", r".*\d$", "(?i) (?:years?|months?|weeks?|days?) ago"),
    ("weekday", "", "", "", "(?i) (?:morning|afternoon|evening|night)s"),
    ("weekday$|turned", "", "", "", r"(?i),? (?:the |el )?\d"),
    ("day_month|iso|fixed", "of", r"(?i)\b(?:week of|semana del?) $", "", ""),
    ("year|month_year", "", "", "", _QUANTITY),
    ("year", "of", r"(?i)\b(?:class|sum|total|out|cost|price|limit|maximum|minimum|average|amount|number"
     r"|balance|size|height|width|order|winter|invierno) (?:of|del?) $", "", ""),
    ("", "of", r"(?i)\b(?:before|after|since|until|till|antes|despu[ée]s|desde|hasta)\W+(?:\w+\W+){0,3}\w+ $",
     "", ""),
    ("", "of", r"(?i)\bas of (?:\w+ ){0,4}$", "", ""),
    ("fixed", "", r"(?i)\b(?:la|una|cada|esta|de) $", "(?i)ma[ñn]ana", ""),
    ("fixed", "", rf"(?is)^{_FRENCH}.*\w", "(?i)hier$", rf"(?is){_FRENCH}"),
    ("fixed", "", r"^\W*$", "(?i)hier$", rf"(?is){_FRENCH}.*\w"),
    ("fixed", "$", _STATE, "(?i)(?:today|hoy|heute|oggi|hoje|vandaag|aujourd)", ""),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Atom:
    """One expression as it stands in the text, `left` with its preposition; its parts are in English."""

    form: str
    parts: Parts
    lead: str
    edge: bool
    left: int
    start: int
    end: int


def understand(text: str, now: datetime, zone: ZoneInfo) -> TimeWords | None:
    """The one window the text speaks of; None where it speaks of none, of several, or may mean none."""
    if not hints_at_time(text):
        return None
    chosen = _chosen(text, list(_atoms(text)))
    if not chosen:
        return None
    try:
        span = _joint(text, chosen, now.astimezone(zone).date())
        return None if span is None else _answer(text, chosen, span, zone)
    except (ValueError, OverflowError):  # outside the calendar
        return None


def _answer(
    text: str, chosen: Sequence[_Atom], span: Span, zone: ZoneInfo
) -> TimeWords | None:
    first, last = start_of_day(span.first, zone), start_of_day(span.last, zone)
    if first >= last:
        return None
    lead = chosen[0].lead if len(chosen) == 1 else "in"
    if chosen[0].edge:  # "before the end of March" lies partly within it
        lead = {"before": "until", "after": "since"}.get(lead, lead)
    since = {"after": last, "before": None, "until": None, "by": None}.get(lead, first)
    until = {"before": first, "since": None, "after": None}.get(lead, last)
    left, end = chosen[0].left, chosen[-1].end
    return TimeWords(
        since, until, span.grain, text[left:end].strip(), _without(text, left, end)
    )


def _without(text: str, left: int, end: int) -> str:
    rest = re.sub(r"\(\s*\)", " ", f"{text[:left]} {text[end:]}")
    rest = re.sub(r" (?=[?!.,;:)])|(?<=[(¿¡]) ", "", re.sub(r"\s+", " ", rest)).strip(
        " ,;:-–"
    )
    return rest if re.search(r"\w", rest) else text


def _atoms(text: str) -> Iterator[_Atom]:
    """Every expression with its preposition, apart from those that may mean something else."""
    known = grammar()
    for match in known.scan.finditer(text):
        start, end = match.span()
        before = text[max(0, start - _NEARBY) : start]
        lead = known.lead.search(before)
        kind = next((kind for kind in LEADS if lead and lead[kind]), "")
        form, parts = _parts(known, match)
        if parts and not _refused(
            (form, kind, before, match[0], text[end : end + _NEARBY])
        ):
            left = start - (len(before) - lead.start() if lead else 0)
            yield _Atom(
                form, parts, kind, bool(lead and lead["edge"]), left, start, end
            )


def _refused(seen: Sequence[str]) -> bool:
    """Whether a row of the table holds in all its columns; what stands before is searched, the rest begun."""
    tries = (re.match, re.match, re.search, re.match, re.match)
    return any(
        all(
            holds(pattern, part)
            for holds, pattern, part in zip(tries, row, seen, strict=True)
        )
        for row in _REFUSED
    )


def _parts(grammar: Grammar, match: re.Match[str]) -> tuple[str, Parts]:
    """The form of an expression and the English of its parts; no parts for letters that only look alike."""
    (name,) = (name for name, words in match.groupdict().items() if words is not None)
    form, template = grammar.forms[int(name[1:])]
    found = re.fullmatch(template, match[name], re.IGNORECASE)
    given = (
        {kind: value for kind, value in found.groupdict().items() if value}
        if found
        else {}
    )
    parts = {kind: _english(grammar, kind, value) for kind, value in given.items()}
    return form, parts if all(parts.values()) else {}


def _english(grammar: Grammar, kind: str, value: str) -> str:
    known = grammar.names.get(kind)
    return value if known is None or value.isdigit() else known.get(fold(value), "")


def _chosen(text: str, atoms: Sequence[_Atom]) -> Sequence[_Atom]:
    """Those that are about time beyond doubt, or are joined to such a one."""
    kept = {i for i, atom in enumerate(atoms) if _stands(text, atom)}
    for i, (one, two) in enumerate(pairwise(atoms)):
        lends_year = (
            i + 1 in kept
            and "year" in two.parts
            and one.form in ("month", "quarter", "day_month")
        )
        if (i in kept or lends_year) and _linked(text, one, two):
            kept |= {i, i + 1}
    return [atoms[i] for i in sorted(kept)]


def _stands(text: str, atom: _Atom) -> bool:
    needed = _BARE.get(atom.form)
    if atom.form == "year" and _HOW_IT_WAS.fullmatch(text[: atom.left]):
        return not re.search(
            r"\w", re.sub(r"(?i)^ (?:like|so far)\b", "", text[atom.end :])
        )
    alone = not re.search(r"\w", text[: atom.start] + text[atom.end :])
    if needed is None or atom.edge or atom.lead in needed.split():
        return True
    return alone and atom.parts.get("month") != "may"


def _linked(text: str, one: _Atom, two: _Atom) -> bool:
    verbs = any(
        text[a.start : a.end] in ("may", "march") and not a.lead for a in (one, two)
    )
    between = text[one.end : two.start]
    listed = (
        between.strip() == "," and one.form == two.form
    )  # "Friday, 3 March" is no list
    return not verbs and (
        listed or any(join.fullmatch(between) for join in (TO, AND, OR))
    )


def _joint(text: str, chosen: Sequence[_Atom], today: date) -> Span | None:
    """One window for all: of the only one, from one to the other, or around a list."""
    one, last = chosen[0], chosen[-1]
    if len(chosen) == 1:
        open_ended = one.lead == "between" or (
            one.lead == "from" and one.form not in _AFTER_FROM
        )
        return None if open_ended else read(one.form, one.parts, today)
    if not all(_linked(text, *pair) for pair in pairwise(chosen)):
        return None
    between = text[one.end : last.start]
    if len(chosen) == 2 and (TO if one.lead != "between" else AND).fullmatch(between):
        return None if one.form == last.form == "weekday" else _range(one, last, today)
    if one.lead in ("since", "before", "after", "until", "by", "from", "between"):
        return None
    return _around([read(atom.form, atom.parts, today) for atom in chosen])


def _range(one: _Atom, two: _Atom, today: date) -> Span | None:
    """From one to the other; the one that names its year, or is nearer to today, places the other."""
    if _floats(two):
        first = read(one.form, one.parts, today)
        return first and _around(
            [first, read(two.form, two.parts, first.first, "future")]
        )
    second = read(two.form, two.parts, today)
    seen_from = second.last - timedelta(days=1) if second and _floats(one) else today
    return _around([read(one.form, one.parts, seen_from), second])


def _floats(atom: _Atom) -> bool:
    return (
        atom.form in ("month", "weekday", "quarter", "day_month")
        and "year" not in atom.parts
    )


def _around(spans: Sequence[Span | None]) -> Span | None:
    known = [span for span in spans if span is not None]
    if len(known) < len(spans):
        return None
    grain = min((span.grain for span in known), key=list(Grain).index)
    return Span(
        min(span.first for span in known), max(span.last for span in known), grain
    )
