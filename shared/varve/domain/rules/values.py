"""Values that look the same in every language, and tests of values."""

import re

from varve.domain.rules import names

EMAIL = r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}"
PHONE = r"\+?(?:\(\d{1,4}\)[ -]?)?\d(?:[ .-]?\d){5,14}(?![\w-])"
ZONE = (
    r"(?-i:(?:UTC|GMT)(?: ?[+-]\d{1,2}(?::\d\d)?)?|[A-Z][a-z]+/[A-Z]\w+(?:/[A-Z]\w+)?"
    r"|CES?T|WES?T|EES?T|E[SD]?T|C[SD]?T|M[SD]?T|P[SD]?T|BST|IST|JST|KST|AE[SD]T|NZ[SD]T|BRT|ART"
    r"|MSK)(?![\w/-])"
)
PHONE_KIND = (
    r"(?:iPhones?(?: \d{1,2}\w?)?(?: (?:pro|max|mini|plus))*|Android(?: phone)?|(?:Google )?Pixel(?: \d\w?)?"
    r"|(?:Samsung )?Galaxy(?: \w\d+)?|Samsung(?: phone)?|Nokia|Huawei|Xiaomi|Fairphone|OnePlus|Motorola"
    r"|BlackBerry)(?: phone)?(?![\w-])"
)
COMPUTER_KIND = (
    r"(?:Windows(?: \d{1,2})?|Linux|Ubuntu|Debian|Fedora|macOS|Mac|MacBook(?: (?:Air|Pro))?|iMac|Chromebook"
    r"|ThinkPad)(?: (?:laptop|machine))?(?![\w-])"
)
BROWSER = (
    r"(?:Chrome|Firefox|Safari|Edge|Brave|Opera|Vivaldi|DuckDuckGo)(?![\w-])"
)
PRONOUNS = (
    r"(?:she|he|they|xe|ze|ella|él|elle)(?: ?/ ?(?:her|hers|him|his|them|theirs|they|xem|zir|hir|ella|él|elle"
    r"|she|he)){0,2}(?![\w/-])"
)
_CODE = r"(?-i:#?(?=[\w/-]{0,20}\d)[A-Z0-9][A-Za-z0-9]*(?:[-/_][A-Za-z0-9]+)*)(?![\w-])"
_IBAN = r"(?-i:[A-Z]{2}\d\d(?: [A-Z0-9]{4}){2,7}(?: (?=\w?\w?\d)[A-Z0-9]{1,3})?)(?![\w-])"
_GROUPS = r"\d{4} \d{4}(?: \d{2,12}){0,5}(?![\w-])"
"""An account's or a card's number, as people write it in groups."""
CODE = rf"(?:{_IBAN}|(?=[\w#/-]{{0,20}}(?:[A-Z]|\d[-/_][A-Z0-9]{{2}}))(?=[\w#/-]{{4}}){_CODE})"
NUMBER = rf"(?:{_GROUPS}|#?\d{{4,20}}(?![\w.,/:%-]*\d)(?![\w-]))"
CODE_OR_NUMBER = rf"(?:{_IBAN}|{_GROUPS}|(?=[\w#/-]{{4}}){_CODE})"

MAX_FOODS = 3
"""Other foods, at most, on either side of one that is eaten again."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_EMPTY_TALK = re.compile(
    r"(?:to |de )?(?:say|admit|ask|be|think|see|hear|know|bother|believe|decir|saber|pensar|ver|creer|ser"
    r"|be(?:ing)?)\b",
    re.IGNORECASE,
)
PAIRS = frozenset({
    "fish and chips", "rock and roll", "mac and cheese", "salt and pepper", "bread and butter",
    "drum and bass",
    "arts and crafts", "black and white", "bed and breakfast", "peanut butter and jelly", "gin and tonic",
    "blanco y negro", "pan y mantequilla",
})  # fmt: skip
_ARTICLE = re.compile(r"(?:el|la|los|las) (?=\w)", re.IGNORECASE)
_JOINT = re.compile(r",? (?:and|or|nor|y|e|o|u|ni) |, ")


_NO_PLACES = names.NOT_PLACES | names.DEPARTMENTS
_NO_EMPLOYERS = names.NOT_EMPLOYERS | names.PLACES | names.DEPARTMENTS


def list_of(one: str, and_: str) -> str:
    """Return the pattern of one or several values: "nuts, eggs and soy"."""
    return rf"(?:{one})(?:, (?:{one}))*(?:,? (?:{and_}) (?:{one}))?(?![\w-])"


def is_stable(value: str) -> bool:
    """Return whether the value means the same outside the conversation."""
    words = [_bare(word) for word in _WORD.findall(value)]
    return names.UNSTABLE.isdisjoint(words)


def _bare(word: str) -> str:
    """Return the word before an apostrophe: "I'm" is "i"."""
    return word.casefold().split("'")[0]


def is_worth(value: str) -> bool:
    """Return whether the value names something that a person can like or prefer."""
    if not _WORD.search(value) or _EMPTY_TALK.match(value):
        return False
    return is_stable(value)


def is_place(value: str) -> bool:
    """Return whether a capitalised name after "live in" or "moved to" can be a place."""
    first = value.removeprefix("the ").casefold().split()[0]
    return first not in _NO_PLACES


def is_known_place(value: str) -> bool:
    """Return whether a name is a known place's, where the words fit an employer's as well."""
    return value.casefold() in names.PLACES


def is_employer(value: str) -> bool:
    """Return whether a capitalised name after "work at" can be an employer."""
    return value.casefold() not in _NO_EMPLOYERS


def is_no_language(value: str) -> bool:
    """Return whether a capital may be a name's: "my son English homework" has no name."""
    return value not in _LANGUAGES


def is_person(value: str) -> bool:
    """Return whether a capitalised name can be a person's: "my boss is French" names no person."""
    words = set(value.casefold().split())
    is_nation = _NATIONALITY.search(value) and words.isdisjoint(
        names.LIKE_NATIONS
    )
    return not (is_nation or words & _TITLES or value in _LANGUAGES)


def is_given_name(value: str) -> bool:
    """Return whether one capitalised word after "I'm" can be a given name: "I'm Catholic" has none."""
    is_acronym = len(value) > 1 and value.isupper()
    is_known = value.casefold() in names.NOT_GIVEN_NAMES
    return is_person(value) and not is_acronym and not is_known


def is_no_title(value: str) -> bool:
    """Return whether the words after "soy" can be a person's: "soy Data Scientist" has none."""
    return is_person(value) and _ENGLISH_JOB.search(value) is None


_ENGLISH_JOB = re.compile(rf"(?:{names.JOBS_EN})$", re.IGNORECASE)
_NATIONALITY = re.compile(r"^\w+(?:ish|ese|ian|ean|can|ench|utch|eek|ss)$")
_TITLES = frozenset(
    [
        "team",
        "president",
        "officer",
        "lead",
        "head",
        "chief",
        "engineer",
        "manager",
        "director",
        "vp",
        "ceo",
        "cto",
        "here",
        "sorry",
        "back",
    ]
)
_LANGUAGES = frozenset(names.LANGUAGES_EN.split("|"))


def no_job(value: str) -> bool:
    """Return whether no word before the job takes it back ("former", "aspiring")."""
    words = value.casefold().split()
    return names.MODIFIERS_OF_NO_JOB.isdisjoint(words)


def listed(value: str) -> list[str]:
    """Return the members of a list in words: two of "sushi and ramen", one of "fish and chips"."""
    if value.casefold() in PAIRS:
        return [value]
    parts = [part.strip() for part in _JOINT.split(value)]
    short = "," in value or all(0 < len(part.split()) <= 2 for part in parts)
    if not short:
        return [drop_article(value)]
    return [drop_article(part.removeprefix("to ")) for part in parts if part]


def drop_article(thing: str) -> str:
    """Return the thing without the article that Spanish puts before things in general."""
    article = _ARTICLE.match(thing)
    return thing[article.end() :] if article else thing


def with_article(job: str) -> str:
    """Return the job with "a" or "an"; an office that only one person holds takes none."""
    if _OFFICE.match(job):
        return job
    article = "an" if _VOWEL.match(job) else "a"
    return f"{article} {job}"


_OFFICE = re.compile(r"(?:head of|vp of|chief|c[teof]o\b)", re.IGNORECASE)
_VOWEL = re.compile(r"(?:[aeio]|u(?!s|ni)|hono|sre\b)", re.IGNORECASE)


def among_foods(food: str, joins: str) -> str:
    """Return a pattern of one of these foods, also in a list: "fish and meat"."""
    before = rf"(?:[^\W\d_]+(?:,| (?:{joins})) ){{0,{MAX_FOODS}}}"
    after = rf"(?:(?:,| (?:{joins})) [^\W\d_]+){{0,{MAX_FOODS}}}"
    return rf"{before}(?:{food})(?![\w-]){after}"
