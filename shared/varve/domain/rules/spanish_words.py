"""Spanish: its expressions of time, and what the values in its sentences look like."""

import re

from varve.domain.language.languages import installed_language
from varve.domain.language.names import FIRST_NAME, GIVEN_NAME, NAME, UPPER
from varve.domain.language.statements import build_expressions
from varve.domain.predicates import name_favourite
from varve.domain.rules import names
from varve.domain.rules.lists import ListWords, build_list_slot
from varve.domain.rules.rule import Slot
from varve.domain.rules.values import (
    BROWSER,
    CODE,
    CODE_OR_NUMBER,
    COMPUTER_KIND,
    EMAIL,
    NUMBER,
    PHONE,
    PHONE_KIND,
    PRONOUNS,
    ZONE,
    is_employer,
    is_given_name,
    is_known_place,
    is_no_language,
    is_no_title,
    is_person,
    is_place,
    is_stable,
    is_worth,
    list_of,
    listed,
    no_job,
)  # fmt: skip

WORDS = installed_language("es")
DATES = build_expressions(WORDS)

MOVED = (
    "(?:ya |recién )?(?:me he (?:mudado|trasladado|ido a vivir)|me (?:mudé|trasladé|fui a vivir)"
    "|nos hemos (?:mudado|trasladado)|(?:me acabo|nos acabamos) de (?:mudar|trasladar|ir a vivir)"
    "|acabo de (?:mudarme|trasladarme|irme a vivir)|acabamos de (?:mudarnos|trasladarnos|irnos a vivir))"
)
"""Begins what speakers say of their own move that is over."""
SETTLED = (
    "(?:(?:me he|nos hemos) (?:instalado|establecido|asentado|afincado)"
    "|me (?:instalé|establecí|asenté|afinqué)"
    "|(?:(?:ya|ahora) )?(?:estoy|estamos) (?:ya |ahora )?(?:instalad|establecid|asentad|afincad)[oa]s?)"
)

END = (
    r"(?=$|[,;:()!?]| [-–—] | (?:pero|porque|aunque|desde|cuando|mientras|así que|como|excepto|salvo|después"
    r"|antes|si"
    r"|ahora|últimamente|también|mucho|muchísimo|por cierto|y (?:me|no|yo|mi|también|vivo|trabajo|tengo|soy"
    r"|odio|prefiero|ya|a)"
    r"|ya que|hace|en este momento)\b)"
)
_WORD = r"[\w&'+#./-]+"
_ITEM = rf"(?:(?:el|la|los|las) )?{_WORD}(?: (?![ye] ){_WORD}){{0,3}}"
_WITHIN = (
    r"(?!(?:[yeou]|ni|el|la|los|las|lo|les?|me|te|se|nos|no|que|mi|tu|su|del?|con|en|por|para|sin|al?|es"
    r"|son)\b)"
)
_NO_MEMBER = (
    r"(?!(?:yo|me|te|se|les?|lo|nos|no|ni|que|mis?|mí|tus?|ti|sus?|nuestr[oa]s?|muy|tan|por|porque|pero|así"
    r"|desde|cuando|si|gracias|mucho|bastante|poco|sol[oa]|nunca|siempre|ahora|ya|veces|menudo|final|fin"
    r"|mismo|misma|menos|parecer|principio|vez|larga|vuelta|hora|partir|pesar|una|dos|tres|\d+|vivo|vivimos"
    r"|trabajo|juego|tengo|soy|estoy|he|voy|hago|como|uso|hablo|estudio|quiero|necesito|busco|evito|llevo"
    r"|tomo|suelo|puedo|debo|intento|odio|prefiero|detesto|conduzco|fumo|bebo|viajo|corro|entreno|leo|escribo"
    r"|cocino|compro|pago|duermo|sufro)\b)"
)
"""What begins another clause and no further member of a list."""
_NO_VERB = r"(?!\w+o (?!(?:de|[yeou]|ni) |\w+o\b)\w)"
"""Before a word without an article: "cultivo tomates" is no member, "trigo sarraceno" is."""
_MORE = rf"(?: (?:(?:de(?: la| los| las)?|del) )?{_WITHIN}{_WORD}){{0,2}}?"
_LISTED = ListWords(
    first=rf"{_WORD}{_MORE}",
    single=rf"{_WORD}(?: (?!(?:[yeo]|ni) ){_WORD}){{0,6}}?",
    member=rf"{_NO_MEMBER}(?:(?:el|la|los|las) |{_NO_VERB}){_WORD}{_MORE}",
    mark=rf"(?:a (?:(?:la|los|las) )?|al ){_NO_MEMBER}",
    lead="(?:también|incluso|sobre todo|especialmente|además|tampoco),? ",
    article="el |la |los |las ",
    joins="[yeo],?|ni|así como|como(?= al? )",
    end=rf"(?:{END}|(?= (?:[yeo]|ni|así como|(?:ya )?se me|(?:ya )?desapareció|(?:ya )?ha desaparecido)\b))",
)
KIN = {
    "hermana": "sister", "hermano": "brother", "hija": "daughter", "hijo": "son", "madre": "mother",
    "padre": "father", "mamá": "mother", "papá": "father", "prima": "cousin", "primo": "cousin",
    "tía": "aunt",
    "tío": "uncle", "sobrina": "niece", "sobrino": "nephew", "abuela": "grandmother", "abuelo": "grandfather",
    "nieta": "granddaughter", "nieto": "grandson", "pareja": "partner", "novia": "partner",
    "novio": "partner",
    "mujer": "wife", "esposa": "wife", "marido": "husband", "esposo": "husband", "jefa": "boss",
    "jefe": "boss",
    "vecina": "neighbour", "vecino": "neighbour", "compañera de piso": "flatmate",
    "compañero de piso": "flatmate",
}  # fmt: skip
_KIN_PREDICATES = {
    "wife": "married_to",
    "husband": "married_to",
    "boss": "reports_to",
}
_PETS = {
    "perro": "dog", "perra": "dog", "perrito": "dog", "perrita": "dog", "cachorro": "puppy", "gato": "cat",
    "gata": "cat", "gatito": "kitten", "gatita": "kitten", "loro": "parrot", "hámster": "hamster",
    "conejo": "rabbit", "coneja": "rabbit", "caballo": "horse", "yegua": "horse", "tortuga": "tortoise",
}  # fmt: skip
_FEMININE = frozenset({"madre", "mujer", "yegua", "mamá", "reunión", "operación", "presentación", "revisión",
"sesión",
    "clase", "llamada", "inspección"})  # fmt: skip
EVENTS = (
    "cita|reunión|entrevista|vuelo|examen|llamada|revisión|operación|presentación|viaje|tren|boda|concierto"
    "|clase"
    "|fiesta|conferencia|reserva|demo|entrega|sesión|carrera|maratón|prueba|visita|cena|comida|consulta"
    "|ensayo"
    "|auditoría|inspección|lanzamiento|partido|taller|charla|cirugía|defensa"
)
LABELS = (
    "pedido|ticket|tique|factura|reserva|caso|seguimiento|localizador|confirmación|póliza|cuenta|cliente"
    "|contrato"
    "|reclamación|serie|incidencia|solicitud|envío|paquete|licencia|vuelo|error|expediente|proyecto"
    "|(?-i:IBAN)"
)


def _article(noun: str) -> str:
    head = noun.lower().split()[0]
    return (
        "la"
        if head in _FEMININE
        or (head.endswith(("a", "ión")) and head != "papá")
        else "el"
    )


def read_kin(value: str) -> dict[str, str]:
    """Return the values of a relative's name, such as the predicate of "hija"."""
    english = KIN[value.lower()]
    article = _article(value)
    return {
        "kin_of": _KIN_PREDICATES.get(english, f"has_{english}"),
        "kin_english": english,
        "the_kin": f"{article.capitalize()} {value}",
        "kin_with_article": f"{article} {value}",
    }


_ARTICLES = re.compile(r"\b(?:el|la|los|las) ", re.IGNORECASE)

DIETS = "vegetarian[oa]|vegan[oa]|pescetarian[oa]"
_SORT_OF_DIABETES = "(?: (?:de )?tipo (?:1|2|uno|dos))?"
_CONDITIONS = {
    "diabétic": "diabetes",
    "asmátic": "asma",
    "epiléptic": "epilepsia",
}
_ILL = rf"(?:diabétic[oa]{_SORT_OF_DIABETES}|asmátic[oa]|epiléptic[oa])"
EATING = rf"{DIETS}|cel[ií]ac[oa]|{_ILL}|intolerante a(?: la|l) \w+"
"""How somebody eats: by a diet, which is one alone, or without something."""
_THIRD = {
    "cancelé": "canceló", "anulé": "anuló", "he cancelado": "ha cancelado", "he anulado": "ha anulado",
}  # fmt: skip
_BOOKED = f"{EVENTS}|suscripción|membresía|cuota|pedido|contrato|seguro|abono|matrícula|plan|cuenta"


def _name_condition(value: str) -> dict[str, str]:
    """Return the condition of one who is "diabética de tipo 1"."""
    ill, *sort = value.lower().split()
    return {"illness": " ".join([_CONDITIONS[ill[:-1]], *sort])}


SLOTS = {
    "end": Slot(END),
    "labels": Slot(LABELS),
    "place": Slot(rf"(?:(?:la|el|los|las) (?=[{UPPER}]))?{NAME}", is_place),
    "city": Slot(rf"(?:la (?=[{UPPER}]))?{NAME}", is_known_place),
    "company": Slot(
        rf"{NAME}(?! \d)",
        is_employer,
        lambda value: {"at_company": f" en {value}"},
    ),
    "name": Slot(FIRST_NAME, is_no_language),
    "full_name": Slot(NAME, is_person),
    "two_names": Slot(rf"(?=\w+ [{UPPER}]){NAME}", is_no_title),
    "given_name": Slot(GIVEN_NAME, is_given_name),
    "item": Slot(rf"{_WORD}(?: {_WORD}){{0,4}}?", is_worth),
    "sort": Slot(
        rf"{_WORD}(?: {_WORD}){{0,4}}?",
        is_worth,
        lambda value: {"favourite": name_favourite(value)},
    ),
    "thing": Slot(rf"{_WORD}(?: {_WORD}){{0,6}}?{END}", is_worth),
    "things": Slot(
        rf"(?:(?>{_ITEM}(?:, (?![ye] ){_ITEM}){{1,6}} [ye] (?:(?:el|la|los|las) )?{_WORD}(?:"
        rf" {_WORD}){{0,3}}?{END})|{_WORD}(?: {_WORD}){{0,6}}?){END}",
        lambda value: is_worth(_ARTICLES.sub("", value)),
    ),
    "substances": build_list_slot(_LISTED),
    "job": Slot(
        rf"(?:{names.JOBS_ES})(?: [a-záéíóúñ]+(?:[oa]|al|or|ora|ista|ente))?(?![\w'-])"
        r"(?=$|[,;:()!.]| (?:en|de|del|para|con|por|y|que|ahora|aquí|desde|pero|la|el|hace|ayer|hoy)\b)",
        no_job,
        lambda value: {"as_job": f" como {value}"},
    ),
    "kin": Slot("|".join(KIN), derive=read_kin),
    "pet": Slot(
        "|".join(sorted(_PETS, key=len, reverse=True)),
        derive=lambda value: {
            "the_pet": f"{_article(value).capitalize()} {value}",
            "pet_kind": _PETS[value.lower()],
        },
    ),
    "al": Slot("al ", derive=lambda _: {"al_article": "el "}),
    "verb": Slot("gustan?|encantan?|fascinan?"),
    "language": Slot(
        names.LANGUAGES_ES,
        derive=lambda value: {
            "language_name": names.LANGUAGE_NAMES[value.lower()]
        },
    ),
    "languages": Slot(
        list_of(names.LANGUAGES_ES, "[yeou]|ni"),
        derive=lambda value: {
            "languages_otherwise": names.name_otherwise(listed(value))
        },
    ),
    "email": Slot(EMAIL),
    "phone": Slot(PHONE),
    "zone": Slot(ZONE),
    "address": Slot(r"(?=[^;]*\d)[\w#][^;:!?]{8,90}"),
    "age": Slot(r"\d{1,3}"),
    "code": Slot(CODE),
    "number": Slot(NUMBER),
    "any_code": Slot(CODE_OR_NUMBER),
    "date": Slot(DATES.pattern),
    "birthdate": Slot(rf"(?:{DATES.pattern})"),
    "event": Slot(
        rf"(?:{EVENTS})(?: (?:con|a|para|de|del|en|médica|médico) (?!la\b)[\w'.-]+(?: (?!es |será |el"
        rf" )[\w'.-]+){{0,2}}?)?",
        is_stable,
        lambda value: {"the_event": f"{_article(value).capitalize()} {value}"},
    ),
    "diet": Slot(DIETS),
    "ill": Slot(_ILL, derive=_name_condition),
    "condition": Slot(
        rf"(?:diabetes{_SORT_OF_DIABETES}|asma|epilepsia|hipertensión|(?:la )?tensión alta)"
    ),
    "allergens": Slot(
        list_of(
            rf"(?:(?:el|la|los|las) )?(?:{names.ALLERGENS_ES})", "[yeou]|ni"
        ),
        derive=lambda value: {"allergens": value.lower()},
    ),
    "pronouns": Slot(PRONOUNS),
    "hot_drink": Slot(
        r"(?:café(?: (?:solo|con leche|cortado|descafeinado))?|té(?: (?:verde|negro|rojo|blanco))?|mate"
        r"|matcha|poleo|manzanilla|rooibos|descafeinado|chocolate caliente|infusiones)(?![\w-])"
    ),
    "phone_kind": Slot(rf"(?:(?:móvil|teléfono|celular) )?{PHONE_KIND}"),
    "computer_kind": Slot(
        rf"(?:(?:ordenador|portátil) (?:con )?)?{COMPUTER_KIND}"
    ),
    "browser": Slot(BROWSER),
    "i_cancelled": Slot(
        "|".join(_THIRD), derive=lambda value: {"did": _THIRD[value.lower()]}
    ),
    "booked": Slot(
        rf"(?:{_BOOKED})(?: [a-záéíóúñ]+)?(?: (?:con|a|al|para|de|del|en) (?:(?:el|la) )?[\w'.-]+(?:"
        r" [\w'.-]+){0,2}?)?",
        is_stable,
        lambda value: {"the_booked": f"{_article(value)} {value}"},
    ),
    "device": Slot(
        r"(?!que )[\w-]+(?: de \w+)?(?: (?!ya|está|vuelve|funciona|se|no)[\w-]+)?",
        is_stable,
        lambda value: {
            "the_device": f"{_article(value).capitalize()} {value}"
        },
    ),
    "set_for": Slot(
        "es|será|sale|empieza|se ha pasado (?:a|al)|está prevista? para"
    ),
    "time": Slot(
        r"a las? (?:\d{1,2}(?:[:.]\d\d)?|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once"
        r"|doce)(?![\w:])",
        derive=lambda value: {"at_time": f" {value}"},
    ),
}
