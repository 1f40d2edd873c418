"""English: its expressions of time, and what the values in its sentences look like."""

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
    is_person,
    is_place,
    is_stable,
    is_worth,
    list_of,
    listed,
    no_job,
    with_article,
)  # fmt: skip

WORDS = installed_language("en")
DATES = build_expressions(WORDS)

I_AM = "(?:I'm|I am)"
I_HAVE = "(?:I've|I have)"
WE = "(?:I|we)"
EVER = (
    "(?:just |recently |finally |now |actually |really |also |still |currently |absolutely |officially "
    "|mostly |)"
)

END = (
    r"(?=$|[,;:()!?]| [-–—] | (?:but|because|since|so|when|while|although|though|as|except|after|before|if"
    r"|these days|right now|at the moment|at the time|too|also|as well|a lot|very much|so much|quite a bit"
    r"|now|nowadays|lately|anyway|by the way|btw|fyi|lol|haha|tho|atm"
    r"|and (?:i|my|we|it|they|you|he|she|so|then|the))\b)"
)
_WORD = r"[\w&'+#./-]+"
_ITEM = rf"{_WORD}(?: (?!and ){_WORD}){{0,3}}"
_WITHIN = r"(?!(?:and|or|nor|as|is|are|was|were|has|have|had|to|in|at|on|for|but|that|which|who|my|any)\b)"
_NO_MEMBER = (
    r"(?!(?:I|I'm|I've|my|we|you|he|she|it|they|not|no|so|but|who|which|that|this|there|just|really|sadly"
    r"|unfortunately|luckily|honestly|hopefully|actually|basically|probably|possibly|thanks|thank|please"
    r"|never|always|usually|often|sometimes|still|currently|recently|now|then|very|a lesser|live|work|play"
    r"|like|love|hate|have|had|am|was|were|is|are|do|did|don't|can|can't|cannot|could|would|will|won't|take"
    r"|carry|use|need|want|try|avoid|go|get|got|keep|eat|drink|drive|study|speak|prefer|enjoy|feel|know"
    r"|think|hope|cook|run|swim|own|rent|travel|suffer|react|stay|sleep|came|went|moved|started|stopped)\b)"
)
"""What begins another clause and no further member of a list."""
_LISTED = ListWords(
    first=rf"{_WORD}(?: {_WITHIN}{_WORD}){{0,3}}?",
    single=rf"{_WORD}(?: (?!(?:and|or|nor) ){_WORD}){{0,6}}?",
    member=rf"{_NO_MEMBER}{_WORD}(?: {_WITHIN}{_WORD}){{0,3}}?",
    mark="to ",
    lead="(?:also|even|especially|particularly|mainly|mostly|including),? ",
    article="",
    joins="and,?|or|nor|as well as",
    end=rf"(?:{END}|(?= (?:and|or|nor|as well as|any ?more|any longer|after all|at all|allerg(?:y|ies))\b))",
)
KIN = {
    "wife": "married_to", "husband": "married_to", "boss": "reports_to", "manager": "reports_to",
    "mum": "has_mother", "mom": "has_mother", "dad": "has_father", "fiancé": "has_partner",
    "fiancée": "has_partner", "girlfriend": "has_partner", "boyfriend": "has_partner",
} | {
    kin: f"has_{kin}" for kin in (
        "sister", "brother", "son", "daughter", "partner", "mother", "father", "cousin", "aunt", "uncle",
        "niece", "nephew", "grandmother", "grandfather", "grandson", "granddaughter", "stepson",
        "stepdaughter",
        "roommate", "flatmate", "neighbour", "neighbor", "colleague",
    )
}  # fmt: skip
_PETS = "dog|puppy|cat|kitten|parrot|hamster|rabbit|horse|pony|tortoise|turtle|guinea pig|canary|ferret|goldfish"  # noqa: E501
EVENTS = (
    "appointment|meeting|interview|flight|exam|call|review|deadline|check-?up|surgery|operation|presentation"
    "|trip"
    "|train|wedding|concert|class|party|conference|reservation|booking|demo|delivery|session|race|marathon"
    "|test"
    "|hearing|viewing|lesson|rehearsal|inspection|audit|launch|release|visit|defen[cs]e|game|match|talk"
    "|workshop"
)
LABELS = (
    "order|ticket|invoice|booking|reservation|case|tracking|reference|confirmation|policy|account|customer"
    "|contract"
    "|claim|serial|incident|request|purchase order|shipment|parcel|licen[cs]e|membership|flight|error|build"
    "|project|(?-i:IBAN)"
)
_BOOKED = (
    f"{EVENTS}|subscription|membership|order|booking|reservation|contract|policy|plan|account|holiday"
    "|insurance|dinner|lunch|gym|treatment"
)
DIETS = "vegetarian|vegan|pescatarian"
_SORT_OF_DIABETES = "(?:type (?:1|2|one|two) )?"
_CONDITIONS = {
    "diabetic": "diabetes",
    "asthmatic": "asthma",
    "epileptic": "epilepsy",
}
_ILL = rf"(?:{_SORT_OF_DIABETES}diabetic|asthmatic|epileptic)"
NO_GLUTEN = "coeliac|celiac"
EATING = rf"{DIETS}|{NO_GLUTEN}|{_ILL}|[\w-]+[- ]intolerant"
"""How somebody eats: by a diet, which is one alone, or without something."""
_FIXED_BY_NATURE = frozenset({
    "price", "rate", "date", "term", "fee", "salary", "time", "schedule", "amount", "interest", "cost",
    "deadline", "order", "income",
})  # fmt: skip
_VERBS = {
    "like": "likes",
    "love": "loves",
    "enjoy": "enjoys",
    "adore": "adores",
    "have": "has",
}

_WITH_THE = (
    "Netherlands|US|UK|United|Hague|Philippines|Bronx|Azores|Algarve|Midlands|Canar|Czech|Basque|UAE"
    "|Bahamas|Highlands"
)


def is_mendable(value: str) -> bool:
    """Return whether "fixed" may mean repaired: a fixed price is none that was broken."""
    return value.casefold().split()[-1] not in _FIXED_BY_NATURE and is_stable(
        value
    )


def _name_condition(value: str) -> dict[str, str]:
    """Return the condition of one who is "type 1 diabetic"."""
    *sort, ill = value.lower().split()
    return {"illness": " ".join([*sort, _CONDITIONS[ill]])}


SLOTS = {
    "end": Slot(END),
    "labels": Slot(LABELS),
    "place": Slot(
        rf"(?:the (?={_WITH_THE}))?{NAME}(?! (?:\d|team|department|division|project|floor|plan|group"
        rf"|board))",
        is_place,
    ),
    "city": Slot(NAME, is_known_place),
    "company": Slot(
        rf"(?:the )?{NAME}(?! \d)",
        is_employer,
        lambda value: {"at_company": f" at {value}"},
    ),
    "name": Slot(FIRST_NAME, is_no_language),
    "full_name": Slot(NAME, is_person),
    "two_names": Slot(rf"(?=\w+ [{UPPER}]){NAME}", is_person),
    "given_name": Slot(GIVEN_NAME, is_given_name),
    "person": Slot(FIRST_NAME, is_person),
    "sort": Slot(
        rf"{_WORD}(?: {_WORD}){{0,4}}?",
        is_worth,
        lambda value: {"favourite": name_favourite(value)},
    ),
    "thing": Slot(rf"{_WORD}(?: {_WORD}){{0,6}}?{END}", is_worth),
    "item": Slot(rf"{_WORD}(?: {_WORD}){{0,4}}?", is_worth),
    "things": Slot(
        rf"(?:(?>{_ITEM}(?:, (?!and ){_ITEM}){{1,6}},? and {_WORD}(?: {_WORD}){{0,3}}?{END})|{_WORD}(?:"
        rf" {_WORD}){{0,6}}?){END}",
        is_worth,
    ),
    "substances": build_list_slot(_LISTED),
    "job": Slot(
        rf"(?:[\w/-]+ ){{0,3}}?(?:{names.JOBS_EN})(?![\w'-])(?! (?:in training|at heart))(?=$|[,;:()!.]|"
        rf" (?:at|for|in|with|by|from|on|and"
        rf"|who|now|here|of|based|these|but|so|since|last|this|next|yesterday|today|two|three|\d+)\b)",
        no_job,
        lambda value: {
            "a_job": with_article(value),
            "as_job": f" as {with_article(value)}",
        },
    ),
    "kin": Slot(
        "|".join(KIN), derive=lambda value: {"kin_of": KIN[value.lower()]}
    ),
    "pet": Slot(_PETS, derive=lambda value: {"pet": value.lower()}),
    "got": Slot(
        "have|just got|got|just adopted|adopted",
        derive=lambda value: {"got": _VERBS.get(value, value)},
    ),
    "verb": Slot(
        "like|love|enjoy|adore",
        derive=lambda value: {"verb": _VERBS[value.lower()]},
    ),
    "language": Slot(names.LANGUAGES_EN),
    "languages": Slot(
        list_of(names.LANGUAGES_EN, "and|or|nor"),
        derive=lambda value: {
            "languages_otherwise": names.name_otherwise(listed(value))
        },
    ),
    "email": Slot(EMAIL),
    "phone": Slot(PHONE),
    "zone": Slot(ZONE),
    "address": Slot(r"(?=[^;]*\d)[\w#][^;:!?]{8,90}"),
    "age": Slot(r"\d{1,3}"),
    "label": Slot(LABELS),
    "code": Slot(CODE),
    "number": Slot(NUMBER),
    "any_code": Slot(CODE_OR_NUMBER),
    "date": Slot(
        DATES.pattern,
        lambda value: value.lower() not in DATES.vocabulary["weekday"],
    ),
    "birthdate": Slot(rf"(?:{DATES.pattern})"),
    "event": Slot(
        rf"(?:(?!is |was )[\w'-]+ ){{0,3}}?(?:{EVENTS})(?: (?:with|to|at|for|in|about|from) [\w'.-]+(?:"
        rf" (?!is |was |on )[\w'.-]+){{0,2}}?)?",
        is_stable,
    ),
    "diet": Slot(DIETS),
    "ill": Slot(_ILL, derive=_name_condition),
    "condition": Slot(
        rf"(?:{_SORT_OF_DIABETES}diabetes|asthma|epilepsy|high blood pressure|hypertension)"
    ),
    "allergens": Slot(
        list_of(names.ALLERGENS_EN, "and|or|nor"),
        derive=lambda value: {"allergens": value.lower()},
    ),
    "pronouns": Slot(PRONOUNS),
    "hot_drink": Slot(
        r"(?:(?:black|green|white|herbal|iced|instant|filter|decaf|strong|oat milk|peppermint) )*(?:coffee"
        r"|tea|espresso|cappuccinos?|lattes?|decaf|matcha|mate|chai|cocoa|hot chocolate)(?![\w-])"
    ),
    "phone_kind": Slot(PHONE_KIND),
    "computer_kind": Slot(COMPUTER_KIND),
    "browser": Slot(BROWSER),
    "booked": Slot(
        rf"(?:(?!is |was )[\w'-]+ ){{0,3}}?(?:{_BOOKED})(?: (?:with|to|at|for|in|from|on) [\w'.-]+(?:"
        rf" (?!is |was |got |has |and )[\w'.-]+){{0,2}}?)?",
        is_stable,
    ),
    "device": Slot(
        r"(?!and |or )[\w-]+(?: (?!is |has |was |in |at |of |got |and |or |now )[\w-]+){0,2}?",
        is_mendable,
    ),
    "set_for": Slot(
        r"is|will be|is scheduled for|is set for|is due|takes place|starts|has been (?:moved|rescheduled) to"
        r"|was (?:moved|rescheduled) to|got (?:moved|rescheduled) to"
    ),
    "time": Slot(
        r"at (?:around )?\d{1,2}(?:[:.]\d\d)?(?: ?[ap]\.?m\.?| ?h| o'clock)?(?![\w:])|at noon|at midnight",
        derive=lambda value: {"at_time": f" {value}"},
    ),
}
