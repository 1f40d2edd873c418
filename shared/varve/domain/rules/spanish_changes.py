"""Spanish: what its sentences say of a change of state, as a table. Read `rule.py` for what a row is."""

from varve.domain.language.names import NAME
from varve.domain.language.statements import Lean
from varve.domain.rules.rule import (
    Change,
    Row,
    ends,
    ends_if_known,
    returns_if_known,
    sets,
)
from varve.domain.rules.spanish_words import DATES, END, MOVED, SETTLED
from varve.domain.rules.values import among_foods

_WHEN = r"(?:{end}|,? {date}(?=$|[,;.]| y | pero ))"
_MOVED = rf"(?:{MOVED}|{SETTLED}|(?:ya |recién )?nos (?:mudamos|trasladamos))"
_BACK = "(?:he vuelto|hemos vuelto|volví|volvimos|regresé|regresamos|he regresado|hemos regresado)"
_THEN = "(?:pero|y) (?:al final |ya |luego |después |)(?:me |nos |)"
RETURNED = rf"{_MOVED} (?:a|en) .{{1,60}}?,? {_THEN}{_BACK}\b(?! a \w+r\b)"
"""A move and the return from it, which are read together."""
MOVED_ON = (
    rf"(?:{MOVED}|nos mudamos)(?: de (?:casa|piso))?(?:,? {DATES.pattern})?(?:,| [-–—]| y|, y)"
    " (?:(?:ya|ahora) )?(?:estoy|estamos) (?:(?:ya|ahora) )?en"
)
"""A move and where it led, which are read together."""
_LATER = (
    rf"(?: (?:a casa|{DATES.pattern}|enseguida|pronto|a l[oa]s [\w-]+ (?:días|semanas|meses|años)"
    r"|a la semana|al (?:día|mes|año)(?: siguiente)?|al (?:poco(?: tiempo)?|final|cabo de \w+ \w+)"
    r"|tras \w+ \w+))?"
)
_ALREADY = "(?:(?:ya|por fin|al final|me|nos) )*"
_TIMES = r"\w+ (?:días|semanas|meses|años)"
_SPAN = r"(?:ya )?[\w ]{2,25}?"
"""How long a state has held: "un mes", "ya dos años"."""
_HOME = (
    r"(?= para (?:quedar(?:me|nos)|siempre)\b| definitivamente\b"
    r"|$|[,;.!)]| (?:otra vez|de nuevo|ya|ahora|porque|aunque|así que|desde"
    rf"|después de {_TIMES}|tras {_TIMES}|y (?:ya|vivo|trabajo|no|me))\b)"
)
"""Ends the words of a return that is no visit."""
_FAILED = (
    "(?:(?:salió|fue|ha salido|ha ido) (?:bien|como (?:esperaba|esperábamos))|funcionó|resultó|cuajó"
    "|ha funcionado|(?:me|nos) (?:gustó|convenció))"
)
DIED = "(?:se |)(?:nos |me |)(?:murió|falleció|ha muerto|ha fallecido)"
"""Said of a pet."""
_DOCTOR = "(?:médic[oa]|doctora?|psiquiatra|alergista|\\w+ólog[oa])"
HEALTH_FOUND = (
    rf"(?:(?:mi|la|el|las|los) (?:{_DOCTOR}|pruebas?|análisis)(?: de (?:la )?alergia)?(?: me)?(?: ha| han|)"
    " (?:dicen?|dijo|dijeron|dicho|confirman?|confirmó|confirmaron|confirmado|muestran?|mostraron) que"
    rf"|según (?:mi|la|el) {_DOCTOR})"
    "(?=,? (?:ya )?(?:no )?(?:soy|tengo|era) .*(?:al[eé]rg|intoleran|cel[ií]ac))"
)
"""What a doctor or a test finds of an allergy is no hearsay."""
_DRUG = (
    r"(?!(?:espina|rutina|harina|cortina)\b)[\w-]{3,}(?:ina|azol|pril|artán|olol|pam|feno|amol)\b"
    r"|medicación|pastillas"
)
_LEFT = "(?:dejé|he dejado|renuncié a|he renunciado a|me fui de|me he ido de)"
_NO_MORE = "ya no (?:trabajo|estoy) (?:en|para)"
_BEGIN = "(?:empiezo|comienzo|empecé|comencé|he (?:empezado|entrado)|entré)(?: a trabajar)?"
CHANGED_JOBS = (
    r"\bya no trabajo (?:en|para) .{1,40}?,? (?:(?:y|pero) )?(?:ahora )?estoy en\b"
    rf"|\b(?:{_LEFT}|{_NO_MORE}) .{{1,40}}?,? (?:(?:y|pero) )?(?:ahora )?{_BEGIN} en {NAME}{END}"
)
"""An employer and the next one, which are read together."""
_ON_OWN = (
    "(?:me (?:he hecho|hice) (?:autónom[oa]|freelance)"
    "|(?:yo )?(?:ya |ahora )?soy (?:trabajadora? )?(?:autónom[oa]|freelance)"
    "|(?:yo )?(?:ya |ahora )?trabajo (?:ya |ahora )?por (?:mi cuenta|cuenta propia)"
    "|me (?:he establecido|establecí|he puesto|puse) por mi cuenta)"
)
"""Told by those who are their own employer, and who name no other beside it."""
_NO_JOB = (ends("works_at"), ends("works_as"))
_MENDED = "(?:arreglad|reparad|solucionad)[oa]"


def _repair(whose: str, named: str) -> tuple[Row, ...]:
    """Return the rows of a thing that is mended or works again."""
    thing = f"{whose} {{device}}(?: de (?:la|el|mi) \\w+)?"
    return (
        Row(rf"{thing} (?:por fin |)(?P<state>(?:ya está|está ya|está por fin) {_MENDED})",
            named + " {state}", (), 0.5, 0.85),
        Row(rf"{thing} (?P<state>(?:ya |)(?:vuelve a funcionar|funciona (?:otra vez|de nuevo)))",
            named + " {state}", (), 0.5, 0.85),
        Row(rf"(?:ya |)(?:han|hemos|he) (?:arreglado|reparado) {thing}{{end}}",
            named + " ya funciona", (), 0.5, 0.8),
    )  # fmt: skip


_EAT_AGAIN = (
    "(?:(?:ya )?(?:vuelvo|he vuelto|volví) a comer {food}(?: otra vez| de nuevo)?"
    "|(?:ya |ahora )?como {food2} (?:otra vez|de nuevo))"
)


def _end_diets(food: str, *diets: str) -> Row:
    """Return the row of food that is eaten again and that these diets leave out."""
    words = _EAT_AGAIN.format(
        food=f"(?P<food>{among_foods(food, '[yeou]')})",
        food2=f"(?P<food2>{among_foods(food, '[yeou]')})",
    )
    changes: list[Change] = []
    for diet in diets:
        changes += (
            ends_if_known("diet", f"{diet}a"),
            ends_if_known("diet", f"{diet}o"),
        )
    return Row(
        words + "{end}",
        "{who} vuelve a comer {food}{food2}",
        tuple(changes),
        0.8,
        0.85,
    )


ROWS = (
    # Work
    Row(rf"(?:{_LEFT}|{_NO_MORE}) {{company}}(?: {{date}})?,? (?:y|para|por|pero)(?: (?:ahora |luego |)"
        r"(?:entré|entrar|empecé|empezar|he entrado|he empezado|trabajo|estoy)(?: a trabajar)? (?:en|para))?"
        r" {company2}",
        "{who} dejó {company} y trabaja en {company2}",
        (ends("works_at", "{company}"), sets("works_at", "{company2}")), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:{_LEFT}|{_NO_MORE}) {{company}},? (?:(?:y|pero) )?(?:ahora )?{_BEGIN} en {{company2}}{{end}}",
        "{who} dejó {company} y empieza en {company2}",
        (ends("works_at", "{company}"), sets("works_at", "{company2}")), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:{_LEFT}|{_NO_MORE}) {{company}}(?: {{date}})?, (?:ahora )?(?:trabajo|estoy) (?:en|con)"
        r" {company2}",
        "{who} dejó {company} y trabaja en {company2}",
        (ends("works_at", "{company}"), sets("works_at", "{company2}")), 0.8, 0.85, Lean.PAST),
    Row(rf"me (?:fui|he ido) de {{company}}{_WHEN}",
        "{who} dejó {company}", ends("works_at", "{company}"), 0.7, 0.7, Lean.PAST),
    Row(rf"(?:renuncié|he renunciado|dimití|he dimitido){_WHEN}",
        "{who} dejó su trabajo", _NO_JOB, 0.8, 0.8, Lean.PAST),
    Row(rf"me (?:despidieron|han despedido|echaron|han echado)(?: del trabajo)?{_WHEN}",
        "{who} perdió su trabajo", _NO_JOB, 0.8, 0.8, Lean.PAST),
    Row(rf"me (?:despidieron|han despedido|echaron|han echado) de {{company}}{_WHEN}",
        "{who} perdió su trabajo en {company}", ends("works_at", "{company}"), 0.8, 0.8, Lean.PAST),
    Row(rf"(?:me (?:jubilé|he jubilado)|estoy jubilad[oa]){_WHEN}",
        "{who} ya no trabaja: jubilación", _NO_JOB, 0.8, 0.85, Lean.PAST),
    Row(rf"{_ON_OWN} (?:como|de) {{job}}",
        "{who} trabaja por cuenta propia{as_job}",
        (ends("works_at"), sets("works_as", "{job}")), 0.8, 0.85, Lean.PAST),
    Row(rf"{_ON_OWN}(?:,? {{date}}{{end}}|(?: (?:ahora|ya|otra vez|de nuevo))?"
        r"(?=$|[,;.!)]| (?:y|pero|desde|porque) ))",
        "{who} trabaja por cuenta propia", ends("works_at"), 0.8, 0.85, Lean.PAST),
    Row("me (?:he (?:reconvertido|reciclado|convertido)|reconvertí|reciclé|convertí) (?:en|como|a)"
        " (?:una? )?{job}",
        "{who} trabaja como {job}", sets("works_as", "{job}"), 0.8, 0.85, Lean.PAST),
    Row("me (?:he (?:hecho|formado como|titulado como)|hice) {job}",
        "{who} trabaja como {job}", sets("works_as", "{job}"), 0.8, 0.8, Lean.PAST),
    Row(rf"(?:llevo (?:{_SPAN} )?trabajando|hace {_SPAN} que trabajo) (?:en|para) {{company}}",
        "{who} trabaja en {company}", sets("works_at", "{company}"), 0.8, 0.85),
    # Where
    Row(rf"{_MOVED} (?:a|en) {{place}}(?: {DATES.pattern})?,? {_THEN}"
        rf"{_BACK}{_LATER}(?: a vivir)? (?:a|en) {{place2}}(?! (?:de|por|para|en) )",
        "{who} volvió de {place} a {place2} y vive allí",
        (ends("lives_in", "{place}"), sets("lives_in", "{place2}")), 0.8, 0.85),
    Row(rf"{_MOVED} (?:a|en) {{place}}(?: {DATES.pattern})?,? {_THEN}"
        rf"{_BACK}{_LATER}{{end}}",
        "{who} volvió de {place}", ends("lives_in", "{place}"), 0.7, 0.8),
    Row(rf"{MOVED_ON} {{place}}(?=$|[,;.!)]| (?:ya|ahora|y|pero)\b)",
        "{who} se mudó a {place} y vive allí", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row(rf"{_BACK} a vivir (?:a|en) {{place}}",
        "{who} volvió a {place} y vive allí", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:[\w ]{{2,30}} no {_FAILED}(?:,|,? (?:así que|y|por eso)) )?{_ALREADY}{_BACK}(?: a casa,)? a"
        rf" {{city}}{_HOME}",
        "{who} volvió a {city} y vive allí", sets("lives_in", "{city}"), 0.8, 0.8, Lean.PAST),
    Row(rf"{_ALREADY}{_BACK} a {{place}} (?:a vivir|para quedar(?:me|nos))",
        "{who} volvió a {place} y vive allí", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row(rf"{_ALREADY}(?:estoy|estamos) (?:ya |por fin |)de (?:vuelta|regreso) en (?!\S*\d){{place}}{_HOME}",
        "{who} volvió a {place} y vive allí", sets("lives_in", "{place}"), 0.8, 0.8),
    Row(rf"{_ALREADY}(?:estoy|estamos) (?:ya |por fin |otra vez |de nuevo |)en casa"
        rf"(?: ya| otra vez| de nuevo|),? en (?!\S*\d){{city}}{_HOME}",
        "{who} está en casa en {city} y vive allí", sets("lives_in", "{city}"), 0.8, 0.8),
    Row(rf"{_MOVED} (?:de vuelta|otra vez|de nuevo) a {{place}}",
        "{who} se mudó a {place} y vive allí", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:llev(?:o|amos) (?:{_SPAN} )?viviendo|hace {_SPAN} que (?:vivo|vivimos)) en {{place}}",
        "{who} vive en {place}", sets("lives_in", "{place}"), 0.8, 0.85),
    # A shop or a town is returned to as well: only an employer that is known counts.
    Row(rf"{_ALREADY}{_BACK} (?:a|con) {{company}}{_HOME}",
        "", returns_if_known("works_at", "{company}"), 0.8, 0.8),
    # Diet
    _end_diets("carne(?: roja)?|pollo|ternera|cerdo", "vegan", "vegetarian", "pescetarian"),
    _end_diets("pescado|marisco", "vegan", "vegetarian"),
    _end_diets("huevos?|queso|lácteos", "vegan"),
    Row("(?:ya no soy|dejé de ser|he dejado de ser) {diet}",
        "{who} ya no es {diet}", ends("diet", "{diet}"), 0.8, 0.85),
    Row(rf"(?:mi|nuestr[oa]) {{pet}},? {{name}},? {DIED}\b",
        "{the_pet} de {who}, {name}, murió", ends("has_pet", "{name}"), 0.7, 0.85, Lean.PAST),
    # Medicine
    Row(rf"(?:mi|la|el) {_DOCTOR} me (?:ha |)(?:quitó|quitado|retiró|retirado|suspendió|suspendido)"
        rf" (?P<article>el |la |las )(?P<drug>{_DRUG})",
        "{who} ya no toma {article}{drug}", (), 0.7, 0.85, Lean.PAST),
    Row("(?:ya no tomo|(?:he dejado|dejé) de tomar) (?:el |la |los |las )?{thing}",
        "{who} ya no toma {thing}", ends_if_known("drinks", "{thing}"), 0.7, 0.8, Lean.PAST),
    # Family
    Row(rf"(?:mi (?:novi[oa]|pareja) y yo |)(?:lo hemos dejado|hemos roto|rompimos|nos separamos|nos hemos"
        rf" separado){_WHEN}",
        "{who} y su pareja ya no están juntos", ends("has_partner"), 0.8, 0.8, Lean.PAST),
    Row(rf"(?:rompí|he roto|lo he dejado|lo dejé) con (?:mi (?:novi[oa]|pareja)){_WHEN}",
        "{who} y su pareja ya no están juntos", ends("has_partner"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:(?:rompí|he roto|lo he dejado|lo dejé) con {{name}}|{{name2}} y yo (?:lo hemos dejado|hemos"
        rf" roto|rompimos|lo dejamos)){_WHEN}",
        "{who} y {name}{name2} ya no están juntos",
        ends("has_partner", "{name}{name2}"), 0.8, 0.85, Lean.PAST),
    Row(r"ya no estoy con {name}{end}", "", ends_if_known("has_partner", "{name}"), 0.8, 0.8),
    Row(rf"(?:me divorcié|me he divorciado|nos divorciamos|nos hemos divorciado|estoy divorciad[oa])"
        rf"{_WHEN}",
        "{who} se divorció", ends("married_to"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:(?:me divorcié|me he divorciado) de {{name}}"
        rf"|{{name2}} y yo (?:nos divorciamos|nos hemos divorciado)){_WHEN}",
        "{who} y {name}{name2} se divorciaron",
        ends("married_to", "{name}{name2}"), 0.8, 0.85, Lean.PAST),
    # Things cancelled, broken and mended
    Row("{i_cancelled} (?:mi|la|el|nuestr[oa]) {booked}{end}",
        "{who} {did} {the_booked}", (), 0.6, 0.85, Lean.PAST),
    Row("(?P<did>han cancelado|cancelaron|han anulado|anularon) (?:mi|nuestr[oa]) {booked}{end}",
        "A {who} le {did} {the_booked}", (), 0.6, 0.85, Lean.PAST),
    Row("(?:me (?P<did>han cancelado|cancelaron|anularon)) (?:mi|el|la) {booked}{end}",
        "A {who} le {did} {the_booked}", (), 0.6, 0.85, Lean.PAST),
    Row("se (?:me |nos |)(?P<did>canceló|ha cancelado|anuló) (?:mi|nuestr[oa]|el|la) {booked}{end}",
        "A {who} se le {did} {the_booked}", (), 0.6, 0.85, Lean.PAST),
    *_repair("(?:mi|nuestr[oa])", "{the_device} de {who}"),
    *_repair("(?:el|la)", "{the_device}"),
    Row(r"(?:mi|nuestr[oa]) {device} (?P<state>está (?:rot|averiad|estropead)[oa]|no (?:funciona|arranca"
        r"|enciende)|se (?:rompió|averió|estropeó)|se ha (?:roto|averiado|estropeado)){end}",
        "{the_device} de {who} {state}", (), 0.5, 0.8),
)  # fmt: skip
"""The rows for changes of state; they come before those of states."""
