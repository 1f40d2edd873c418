"""English: habits, devices, pets and births that later words end, as a table; `rule.py` explains a row.

A row without a fact changes triples alone: the words themselves say more than a fact would.
"""

from varve.domain.language.statements import Lean
from varve.domain.rules.english_words import EVER, I_AM, WE
from varve.domain.rules.rule import Row, ends_if_known, sets

_HAVE = "(?:'ve| have|)"
_END = r"(?:{end}|(?:,? {date}| this morning| today| for good| every| in the| at breakfast)(?=$|[,;.]| ))"
_FROM = r" from (?:an? |my |the )?[\w ]{1,30}?"
_SWITCHED = (
    rf"I{_HAVE} {EVER}(?:(?:switched|changed|converted)(?: over| back)?(?:{_FROM})?"
    rf"|(?:moved|went|gone)(?: over|{_FROM})) to (?:drinking |using )?(?:an? |the )?"
)
_DIED = (
    "(?:has |)(?:just |sadly |)(?:passed away|died|crossed the rainbow bridge"
    "|(?:was|had to be|been) put (?:down|to sleep))"
)
_BABY = "(?:baby|little (?:one|girl|boy)|twins|daughter|son|baby (?:boy|girl))"
_NEW = r"(?:today|tonight|this (?:morning|afternoon|evening)|last night|yesterday|just now)"


def _switch(slot: str, predicate: str, uses: str) -> tuple[Row, ...]:
    """Return the rows of a habit: to have it, to switch to another one, to end it."""
    return (
        Row(rf"I {EVER}(?:always |usually |mostly |only )?(?:{uses}) (?:an? |my |the )?"
            rf"{{{slot}}}(?! (?:for my|with my|as a gift)){_END}",
            "", sets(predicate, f"{{{slot}}}"), 0.5, 0.8),
        Row(rf"{_SWITCHED}{{{slot}}}{_END}", "",
            (ends_if_known(predicate), sets(predicate, f"{{{slot}}}")), 0.6, 0.85, Lean.PAST),
        Row(rf"I{_HAVE} {EVER}(?:quit|given up|gave up|stopped|cut out|sold|got rid of)"
            rf"(?: drinking| using)? (?:my |the |an? )?{{{slot}}}{_END}",
            "", ends_if_known(predicate, f"{{{slot}}}"), 0.6, 0.85, Lean.PAST),
    )  # fmt: skip


ROWS = (
    *_switch("hot_drink", "drinks", "drink|have"),
    *_switch("phone_kind", "uses_phone", "use|have|own"),
    *_switch("computer_kind", "uses_computer", "use|have|own|work on"),
    *_switch("browser", "uses_browser", "use"),
    # Pets
    Row(rf"(?:sadly,? )?{{name}} {_DIED}\b(?! (?:laughing|of laughter))",
        "", ends_if_known("has_pet", "{name}"), 0.7, 0.85, Lean.PAST),
    Row(r"{name} (?:is|'s) (?:sadly )?(?:no longer with us|dead){end}",
        "", ends_if_known("has_pet", "{name}"), 0.7, 0.85),
    Row(rf"{WE}{_HAVE} {EVER}(?:lost|buried|said goodbye to|rehomed|had to say goodbye to) {{name}}",
        "", ends_if_known("has_pet", "{name}"), 0.7, 0.8, Lean.PAST),
    Row(rf"{WE}{_HAVE} {EVER}(?:(?:put|had to put) {{name}} (?:down|to sleep)|(?:gave|given) {{name2}} away)",
        "", (ends_if_known("has_pet", "{name}"), ends_if_known("has_pet", "{name2}")), 0.7, 0.8, Lean.PAST),
    # Births
    Row(rf"(?:{I_AM} {EVER}(?:[\w-]+ (?:weeks|months) )?pregnant|(?:{I_AM}|we're|we are) {EVER}expecting"
        r" (?:a|our|my) (?:(?:first|second|third|new|little|baby) )*(?:baby|child|boy|girl|son|daughter"
        r"|twins))"
        r"(?=$|[,;:.!]| (?:and|with (?:our|my|a|twins)|again|now|due|in|since|at)\b)",
        "", sets("expecting", "a baby"), 0.8, 0.9),
    Row(rf"(?:the|our|my) {_BABY} (?:is|are) (?:finally |already |now )?(?:here|born|out)"
        rf"(?=$|[,;:.!]| (?:and|at last|safe|healthy|since|{_NEW})\b)",
        "", ends_if_known("expecting"), 0.8, 0.85),
    Row(rf"(?:the|our|my) {_BABY}(?: [A-Z]\w+)? (?:(?:was|were|has been|have been) born"
        r"|arrived|has arrived|came)"
        rf"(?=$|[,;:.!]| (?:and|at|early|late|on|safe|healthy|{_NEW}))",
        "", ends_if_known("expecting"), 0.8, 0.85, Lean.PAST),
    Row(rf"{{name}} was born,? {_NEW}", "", ends_if_known("expecting"), 0.8, 0.8, Lean.PAST),
    Row(rf"I{_HAVE} {EVER}(?:(?:gave|given) birth|had (?:the|our|my|a) (?:healthy )?{_BABY}"
        r"|had a (?:healthy )?(?:boy|girl)|had a miscarriage|lost the baby)",
        "", ends_if_known("expecting"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:{I_AM} (?:no longer|not) pregnant(?: any ?more| any longer)?|we lost the baby)",
        "", ends_if_known("expecting"), 0.8, 0.85),
)  # fmt: skip
