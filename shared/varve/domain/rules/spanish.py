"""Spanish: its openings, and the marks of doubt, question, fiction, request and correction."""

import re

from varve.domain.rules import spanish_changes, spanish_habits, spanish_rows
from varve.domain.rules.own_name import spanish_first_person
from varve.domain.rules.persons import DANGLING_ES, spanish_third_person
from varve.domain.rules.rule import LanguageRules, build_rules
from varve.domain.rules.sentences import QUOTED
from varve.domain.rules.spanish_words import (
    DATES,
    EATING,
    EVENTS,
    KIN,
    LABELS,
    SLOTS,
    WORDS,
    read_kin,
)

_TOLD = (
    "(?:(?:he )?(?:dicho|contado|comentado)|dije|conté|comenté|mencioné|decía)"
)
_FILLER = (
    r"hola(?: de nuevo)?|buenas(?: tardes| noches)?|buenos días|bueno|pues|vale|ok|oye|por cierto|además"
    r"|también"
    r"|gracias|perdón|perdona|lo siento|y|pero|entonces|así que|la verdad|en realidad|de hecho|ah|mira"
    r"|buenas noticias|para que lo sepas|te cuento|otra cosa|una cosa|como sabes|encima|porque"
    r"|resulta que|al final"
    rf"|{spanish_changes.HEALTH_FOUND}"
    rf"|como (?:ya )?(?:te )?{_TOLD}(?: antes)?|ya (?:te |os )?{_TOLD} que"
)
_OWN = (
    "(?:yo|me|mi|vivo|vivimos|trabajo|tengo|soy|estoy|estamos|prefiero|odio|detesto|hablo|ya no|nací|nos|a mí"
    "|no me|dejé|he|empecé|empiezo)"
)
_TOPICS = {
    "dirección": "address", "correo": "email", "email": "email", "e-mail": "email", "mail": "email",
    "correo electrónico": "email", "dirección de correo": "email", "dirección de email": "email",
    "teléfono": "phone", "número de teléfono": "phone", "número": "phone", "móvil": "phone",
    "número de móvil": "phone", "celular": "phone", "número de celular": "phone",
    "cumpleaños": "birthday", "fecha de nacimiento": "birthday",
    "edad": "age", "nombre": "name", "trabajo": "works_at", "empleo": "works_at",
    "empresa": "works_at", "puesto": "works_as", "zona horaria": "time_zone", "casa": "lives_in",
    "ciudad": "lives_in", "alergia": "allergic_to", "dieta": "diet", "jefe": "reports_to",
    "jefa": "reports_to", "mujer": "married_to", "marido": "married_to", "pareja": "has_partner",
}  # fmt: skip
_TOLD_OF = {
    "dónde vivo": "lives_in", "donde vivo": "lives_in", "dónde trabajo": "works_at",
    "donde trabajo": "works_at", "para quién trabajo": "works_at", "en qué trabajo": "works_as",
    "a qué me dedico": "works_as", "dónde estudio": "studies_at", "donde estudio": "studies_at",
    "de dónde soy": "hometown", "dónde nací": "born_in", "cuándo nací": "birthday",
    "cuántos años tengo": "age", "qué edad tengo": "age",
    "cuál es mi profesión": "works_as", "mis alergias": "allergic_to", "a qué soy alérgico": "allergic_to",
    "a qué soy alérgica": "allergic_to", "con quién estoy casado": "married_to",
    "con quién estoy casada": "married_to",
}  # fmt: skip


def _list_forgettable() -> dict[str, str]:
    """Return the predicates whose values are forgotten, by the words that ask for it."""
    found = dict(_TOLD_OF)
    for topic, predicate in _TOPICS.items():
        for ask in (
            "",
            "cuál es ",
            "quién es ",
            "cuándo es ",
            "cómo se llama ",
        ):
            found[f"{ask}mi {topic}"] = predicate
    for kin in KIN:
        for ask in ("", "quién es ", "cómo se llama "):
            found[f"{ask}mi {kin}"] = read_kin(kin)["kin_of"]
    return found


RULES = LanguageRules(
    code="es",
    rules=build_rules((*spanish_changes.ROWS, *spanish_habits.ROWS, *spanish_rows.ROWS), SLOTS),
    slots=SLOTS,
    dates=DATES,
    common=re.compile(
        r"\b(?:el|la|los|las|de|que|en|es|mi|me|y|por|con|una?|para|no|se|del|al|lo)\b", re.IGNORECASE),
    hint=re.compile(
        rf"\b(?:{_OWN}|nuestr[oa]|antes vivía|(?:en )?perdí|comencé|comienzo|entré|renuncié|adopt\w+|estudio"
        rf"|vuelo|volamos|viajo"
        r"|viajamos|tenemos|llámame|llamarme|respóndeme|contéstame|responde|contesta|aprendo|aborrezco|hemos"
        r"|rompí|rompimos|dimití|acabo|acabamos|vuelvo|volv\w+|como \w+ (?:otra|de nuevo)"
        r"|regres\w+|llevo|cancel\w+|anul\w+|ya|vuelve|funciona|arreglad\w+"
        r"|tolero|digiero|murió|falleció|ha muerto|ha fallecido|naci\w+|nació|bebé|esperamos|tomo|bebo"
        r"|cumpl\w+|desayuno|uso|puedo|pueden?|podrían?|pronombres|háblame"
        r"|recuerda|olvida|olvides|olvidar|olvídate|borra|elimina|cuenta|anota|apunta|conste|quería decir"
        r"|quise decir|no es|resido|padezco|es"
        rf"|{LABELS}|{EVENTS})\b", re.IGNORECASE,
    ),
    opening=re.compile(
        rf"(?:(?:{_FILLER})\b(?:[,.:!]| [-–—])* +|(?:sí|no|ya|bien)[,.:!]+ +|(?:{DATES.pattern}),?"
        rf" (?={_OWN}\b)){{0,4}}", re.IGNORECASE
    ),
    clause=re.compile(
        r"(?:,|:| [-–—])\s+(?:(?:y|pero|así que|porque|además|también) )?"
        rf"(?=(?:{_OWN}|por favor|olvida|borra)\b)"
        rf"|\s+(?:[ye]|pero|así que|porque|aunque) (?=(?:resulta que )?(?:{_OWN}"
        r"|no (?:soy|tengo|tolero|digiero|puedo))\b)",
        re.IGNORECASE,
    ),
    shared_subjects=(re.compile(
        rf"\b(?P<first>(?P<who>soy) (?:(?:\w+ ){{0,2}}?(?:{EATING})|(?:\w+ )?alérgic[oa] al? [^;:.!?]+?))"
        rf"(?:,? (?:[ye]|pero)|,? (?:pero |sino )?(?:solo|sólo|sino))"
        rf"(?= (?:(?:también|muy|ahora) )*(?:alérgic[oa]|{EATING})\b)", re.IGNORECASE,
    ),),
    together=re.compile(
        rf"{spanish_changes.RETURNED}|{spanish_changes.CHANGED_JOBS}|\b{spanish_changes.MOVED_ON}\b",
        re.IGNORECASE,
    ),
    asking=re.compile(
        r"[,:]? (?=(?:puedes|podrías|puede|me puedes|sabes|qué|cómo|cuál|cuándo|dónde|quién"
        r"|hay)\b)", re.IGNORECASE
    ),
    doubt=re.compile(
        r"\b(?:si(?! (?:es posible|puedes|quieres|hace falta)\b)|ojalá|quizás?|tal vez|a lo mejor"
        r"|podría(?! matar(?:me)?\b)"
        r"|debería|gustaría|quisiera|querría|imagina|supón|supongamos"
        r"|dij[eo]|dijeron|dicen?|contó|contaron|según|al parecer|por lo visto|creo|puede que|pensando en"
        r"|soñé|broma"
        r"|por ejemplo|viviría|trabajaría|casi|parece|no es verdad|no (?:me )?lo creo"
        r"|estoy pensando|espero|cuando|en teoría"
        r"|supongo)\b"
        rf"|{QUOTED}", re.IGNORECASE,
    ),
    fiction=re.compile(
        r"\b(?:imagina(?:te)?|supongamos|haz como si|finge|pongamos que"
        r"|(?:traduce|corrige|reescribe|resume|revisa) (?:esto|este|esta|el|la|mi|lo)\b"
        r"|(?:escríbe(?:me)?|escribe|redacta|genera) (?:una?|el|la|mi) .*(?:cuento|historia|poema|correo"
        r"|email|carta|canción"
        r"|diálogo|ensayo|mensaje|texto|respuesta|ejemplo|guion|discurso))\b", re.IGNORECASE,
    ),
    remember=re.compile(
        r"(?:(?:por favor|y|también|oye),? )*(?:recuerda|acuérdate de|ten en cuenta|tenga en cuenta|no"
        r" olvides|no te olvides de"
        r"|anota|apunta|que conste|para que conste)(?:,? (?:para la próxima|por favor))?(?:,? que\b|[,:])+ *"
        r"(?P<body>(?!si |cuando |cómo ).{8,300})$", re.IGNORECASE,
    ),
    forget=re.compile(
        r"(?:(?:por favor|y|también|puedes|podrías|quiero que|necesito que|te pido que|me gustaría que),? )*"
        r"(?:olvida|(?<=que )(?:te )?olvides(?: de)?|olvídate de|olvidarte de|olvidaras|olvidar|no recuerdes"
        r"|(?:borra|borrar|elimina|eliminar)(?=.* de (?:tu|la) memoria)"
        r"|(?:borra|borrar|elimina|eliminar)(?= mi (?:dirección|teléfono|número de teléfono|cumpleaños|edad)"
        r"(?:,? por favor)?[.!]*$))"
        r"(?:,? (?:que|lo de que|lo que (?:te )?(?:dije|conté) (?:de|sobre)|lo de|por favor,?))*\b[ ,]*"
        r"(?P<body>.*?)(?: de (?:tu|la) memoria)?(?:,? por favor)?$", re.IGNORECASE,
    ),
    correction=re.compile(
        r"(?:(?:perdón|perdona|no|corrección|lo siento|ay|me equivoqué|en realidad)\b[,.:!–— -]*)*"
        r"(?:quería decir|quise decir|corrección:) (?:el )?(?P<new1>[^,]+?)(?:,? no (?:el"
        r" )?(?P<old1>[^,]+))?$"
        r"|(?:(?:perdón|perdona|no|lo siento|me equivoqué|en realidad)\b[,.:!–— -]*)+(?:es )?(?:el"
        r" )?(?P<new2>[^,]+), no (?:el )?(?P<old2>[^,]+)$"
        r"|(?:(?:perdón|perdona|lo siento|me equivoqué|en realidad)\b[,.:!–— -]*)+(?:no, )?es (?:el"
        r" )?(?P<new3>[^,]+)$"
        r"|no es (?:el )?(?P<old4>[^,]+?),? sino (?:el )?(?P<new4>[^,]+)$", re.IGNORECASE,
    ),
    beside=re.compile(r"(?:mi [\w-]+|(?-i:[A-ZÁÉÍÓÚÑ][\w'-]+))", re.IGNORECASE),
    it=re.compile(r"(?P<rest>(?:ya|está|vuelve|funciona)\b.*)$", re.IGNORECASE),
    gone=re.compile(
        rf"(?P<name>[\w'-]+) (?P<rest>{spanish_changes.DIED}\b.*)$", re.IGNORECASE
    ),
    called=re.compile(
        rf"(?:^|[,;:] (?:y |pero |aunque )?| (?:y|pero|aunque) )(?P<tail>{spanish_rows.OTHERS_CALLED} .+)$",
        re.IGNORECASE,
    ),
    since=re.compile(r"\bdesde (?P<time>[\w ]{3,30}?)(?=$|[.,;:!]| y | pero )", re.IGNORECASE),
    unreal=re.compile(
        r"\b(?:por ejemplo|murió|falleció|ha muerto|ha fallecido|difunt[oa]|funeral|ex|perdimos"
        r"|imaginari[oa])\b|\bno (?:es )?mi\b", re.IGNORECASE
    ),
    forgettable=_list_forgettable(),
    inversions=(),
    joins=re.compile(r",? (?:y|e) |, ", re.IGNORECASE),
    own_topic="mi {}",
    dangling=DANGLING_ES,
    third_person=spanish_third_person,
    first_person=spanish_first_person,
    asked="{who} pidió recordar: «{body}».",
    corrected="{fact} (corregido: no {wrong}).",
    and_="{} y ",
    own_thing="mi {thing} {rest}",
    said_on="dicho el {}",
    since_when="desde {}",
    within="en {}",
    week_of="semana del {}",
    months=tuple(names[0] for names in WORDS.times.months),
    day_name="{day} de {month}{of_year}",
)  # fmt: skip
