"""Spanish: habits, devices, pets and births that later words end, as a table; `rule.py` explains a row."""

from varve.domain.language.statements import Lean
from varve.domain.rules.rule import Row, ends_if_known, sets
from varve.domain.rules.spanish_changes import DIED

_END = r"(?:{end}|,? {date}(?=$|[,;.]| )| (?:por las?|cada|todos|todas|en el|al|de)\b)"
_SWITCHED = (
    r"(?:ya |al final |por fin )*(?:me he pasado|me pasé|me he cambiado|me cambié|he cambiado"
    r"(?: (?:el|la|mi|del|de la) [\w ]{1,30}?)?|cambié(?: (?:el|la|mi|del|de la) [\w ]{1,30}?)?)"
    r" (?:al? |por )(?:el |la |un |una )?"
)
_BABY = "(?:bebé|niñ[oa]|peque(?:ñ[oa])?|hij[oa]|mellizos|gemelos)"
_THE = "(?:el|la|nuestr[oa]|mi|los)"


def _switch(
    slot: str, predicate: str, uses: str, left: str
) -> tuple[Row, ...]:
    """Return the rows of a habit: to have it, to switch to another one, to end it."""
    return (
        Row(rf"(?:yo )?(?:siempre |solo |ahora )?(?:{uses}) (?:el |la |un |una |mi )?{{{slot}}}{_END}",
            "", sets(predicate, f"{{{slot}}}"), 0.5, 0.8),
        Row(rf"{_SWITCHED}{{{slot}}}{_END}", "",
            (ends_if_known(predicate), sets(predicate, f"{{{slot}}}")), 0.6, 0.85, Lean.PAST),
        Row(rf"(?:(?:he dejado|dejé) (?:de {left} )?|(?:he vendido|vendí)) ?"
            rf"(?:el |la |un |una |mi )?{{{slot}}}{_END}",
            "", ends_if_known(predicate, f"{{{slot}}}"), 0.6, 0.85, Lean.PAST),
    )  # fmt: skip


ROWS = (
    *_switch("hot_drink", "drinks", "tomo|bebo|desayuno", "(?:tomar|beber)"),
    *_switch("phone_kind", "uses_phone", "uso|tengo", "usar"),
    *_switch("computer_kind", "uses_computer", "uso|tengo|trabajo con", "usar"),
    *_switch("browser", "uses_browser", "uso", "usar"),
    # Pets
    Row(rf"(?!se\b){{name}} {DIED}\b", "", ends_if_known("has_pet", "{name}"), 0.7, 0.85, Lean.PAST),
    Row(rf"{DIED} {{name}}", "", ends_if_known("has_pet", "{name}"), 0.7, 0.85, Lean.PAST),
    Row(r"(?:hemos perdido|perdimos|he perdido|tuvimos que sacrificar|hemos tenido que sacrificar|regalamos"
        r"|hemos dado en adopción|dimos en adopción) a {name}",
        "", ends_if_known("has_pet", "{name}"), 0.7, 0.8, Lean.PAST),
    # Births
    Row(r"(?:yo )?(?:estoy embarazada|(?:estamos )?espera(?:mos|ndo) (?:un|una|nuestr[oa]|a nuestr[oa]) "
        rf"(?:primer |segund[oa] )?{_BABY})",
        "", sets("expecting", "a baby"), 0.8, 0.9),
    Row(rf"(?:ya |por fin )*(?:ha nacido|han nacido|nació|nacieron) {_THE} {_BABY}",
        "", ends_if_known("expecting"), 0.8, 0.85, Lean.PAST),
    Row(rf"{_THE} {_BABY} (?:ya |por fin )*(?:ha nacido|han nacido|nació|está aquí|ha llegado|llegó)"
        r"(?=$|[,;:.!]| (?:y|hoy|ayer|anoche|esta)\b)",
        "", ends_if_known("expecting"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:he dado a luz|di a luz|he tenido (?:al?|un|una) (?:la )?{_BABY}|ya no estoy embarazada"
        r"|(?:he perdido|perdí|hemos perdido) al bebé|(?:he tenido|tuve) un aborto)",
        "", ends_if_known("expecting"), 0.8, 0.85, Lean.PAST),
)  # fmt: skip
