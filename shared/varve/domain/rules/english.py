"""English: its openings, and the marks of doubt, question, fiction, request and correction."""

import re

from varve.domain.rules import english_changes, english_habits, english_rows
from varve.domain.rules.english_words import (
    DATES,
    EATING,
    EVENTS,
    KIN,
    LABELS,
    SLOTS,
    WORDS,
)
from varve.domain.rules.names import JOBS_EN
from varve.domain.rules.own_name import english_first_person
from varve.domain.rules.persons import DANGLING_EN, english_third_person
from varve.domain.rules.rule import LanguageRules, build_rules
from varve.domain.rules.sentences import QUOTED

_FILLER = (
    r"hi(?: there| all| again)?|hello(?: there| again)?|hey(?: there)?|good (?:morning|afternoon|evening)"
    r"|ok(?:ay)?|well"
    r"|now|nowadays|these days|currently|right now|at the moment|as of (?:today|now)"
    r"|so|actually|also|btw|by the way|just so you know|just to let you know|fyi|oh|yes|yeah|yep|sorry"
    r"|thanks|thank you|anyway|honestly|and|but|because|in fact|good news|bad news|big news|news|update"
    r"|quick update"
    r"|one more thing|for context|first|second|then|plus|hm+|ah|as you know|to be honest|guess what|finally"
    r"|(?:as )?(?:it )?turns out(?: that)?"
    r"|personally|(?:as|like) i(?:'ve| have)? (?:already |just )?(?:said|told you|mentioned)"
    r"(?: (?:before|earlier|already|last time))?"
    r"|(?:i|i've|i have) already (?:told you|said|mentioned)(?: that)?"
    rf"|{english_changes.HEALTH_FOUND}"
)
_TOPICS = {
    "address": "address", "email": "email", "email address": "email", "e-mail": "email",
    "e-mail address": "email", "phone": "phone", "phone number": "phone", "number": "phone",
    "mobile": "phone", "mobile number": "phone", "cell": "phone", "cell number": "phone",
    "cell phone number": "phone", "telephone number": "phone", "birthday": "birthday",
    "date of birth": "birthday", "birth date": "birthday", "age": "age", "name": "name",
    "job": "works_at", "profession": "works_as",
    "employer": "works_at", "time zone": "time_zone", "job title": "works_as",
}  # fmt: skip
_OF_OWN = {
    "allergies": "allergic_to", "allergy": "allergic_to", "diet": "diet", "location": "lives_in",
    "home": "lives_in", "city": "lives_in", "workplace": "works_at", "company": "works_at",
    "boss": "reports_to", "manager": "reports_to", "hometown": "hometown", "wife": "married_to",
    "husband": "married_to", "partner": "has_partner",
}  # fmt: skip
_TOLD_OF = {
    "where i live": "lives_in", "where i'm living": "lives_in", "where i am living": "lives_in",
    "where i work": "works_at", "who i work for": "works_at", "where i study": "studies_at",
    "what i do": "works_as", "what i do for a living": "works_as", "where i'm from": "hometown",
    "where i am from": "hometown", "where i was born": "born_in", "when i was born": "birthday",
    "how old i am": "age", "what i'm allergic to": "allergic_to", "what i am allergic to": "allergic_to",
    "who i'm married to": "married_to", "who i am married to": "married_to",
}  # fmt: skip


def _list_forgettable() -> dict[str, str]:
    """Return the predicates whose values are forgotten, by the words that ask for it."""
    found = dict(_TOLD_OF)
    for topic, predicate in (_TOPICS | _OF_OWN).items():
        for words in (
            f"my {topic}",
            f"what my {topic} is",
            f"my {topic}'s name",
        ):
            found[words] = predicate
        found[f"who my {topic} is"] = predicate
        found[f"when my {topic} is"] = predicate
    for kin, predicate in KIN.items():
        for words in (f"my {kin}", f"my {kin}'s name", f"who my {kin} is"):
            found[words] = predicate
    return found | {
        f"my home {topic}": told for topic, told in _TOPICS.items()
    }


_AN_OTHER = r"(?:to [a-z]|who|that|him|her|them|he|she|they|my|our|your|about|with|for a|not|never|no longer)"
"""Words after which an adjective or a verb may not be about the speaker."""
_STATE = (
    rf"(?:allergic to|{EATING}|(?:based|living|working|studying) (?:in|at|for|as)|from (?-i:[A-Z])"
    rf"|married to|(?:an? )?(?:[\w/-]+ ){{0,2}}(?:{JOBS_EN}) (?:based |living |working )?(?:at|for|in))\b"
)
_DOING = (
    r"(?:(?:work|study) (?:at|for|as|in)|live (?:in|near)|speak (?-i:[A-Z])|(?:moved|relocated) to"
    r"|(?:started|grew up) (?:at|in|with)|joined (?-i:[A-Z])|(?:love|like|hate|prefer) \w"
    r"|(?:can't|cannot|don't|do not|never) (?:eat|drink)\b)"
)
_AGAIN = rf"(?= (?:(?:also|now|just|only|a|strict|very|severely) )*{_STATE})"
_SELF_ALONE = rf"(?:(?!{_AN_OTHER}\b)[\w'-]+ ){{0,8}}(?!{_AN_OTHER}\b)[\w'-]+"
_SHARED_SUBJECTS = (
    # "I'm vegan and allergic to nuts", "I'm not coeliac, just lactose intolerant"
    re.compile(
        rf"\b(?P<first>(?P<who>I'm|I am) (?:(?:[\w'-]+ ){{0,3}}?(?:{EATING})"
        rf"|(?:\w+ )?allergic to [^;:.!?]+?))(?:,? (?:and|but)|,(?= (?:just|only|now)\b)){_AGAIN}",
        re.IGNORECASE,
    ),
    # "I'm a nurse, based in Leeds"
    re.compile(
        rf"\b(?P<first>(?P<who>I'm|I am) {_SELF_ALONE})(?:,? (?:and|but)|,){_AGAIN}",
        re.IGNORECASE,
    ),
    # "I live in Lisbon and work as a nurse", "I'm Priya, just moved to Bristol"
    re.compile(
        r"\b(?P<first>(?P<who>I|we)(?:'m|'re| am| are| live| work| study| grew up| moved| started| joined"
        rf"| have| own| love| like| hate| prefer| speak) {_SELF_ALONE})(?:,? and|,)"
        rf"(?= (?:(?:also|now|just|then|recently) )*{_DOING})",
        re.IGNORECASE,
    ),
)


RULES = LanguageRules(
    code="en",
    rules=build_rules((*english_changes.ROWS, *english_habits.ROWS, *english_rows.ROWS), SLOTS),
    slots=SLOTS,
    dates=DATES,
    common=re.compile(
        r"\b(?:the|of|and|to|in|is|my|i|a|an|for|with|that|it|on|at|was|am|you)\b", re.IGNORECASE),
    hint=re.compile(
        rf"\b(?:I|I'm|I've|my|we|we're|our|me|remember|forget|record|note|mind|(?:{LABELS})|(?:{EVENTS})"
        r"|fixed|repaired|mended|sorted|replaced|cancell?ed|works|working|back"
        r"|answer|reply|respond|always write"
        r"|passed away|died|no longer with us|put to sleep|baby|twins|born|meant|it's|not"
        r"|make that|this is)\b", re.IGNORECASE,
    ),
    opening=re.compile(
        rf"(?:(?:{_FILLER})\b(?:[,.:!]| [-–—])* +|(?:no|right)[,.:!]+ +|(?:{DATES.pattern}),? (?=I\b|we\b"
        rf"|my\b)){{0,4}}", re.IGNORECASE
    ),
    clause=re.compile(
        r"(?:,|:| [-–—])\s+(?:(?:and|but|so|because|then|plus|also) )?(?=(?:I|I'm|I've|my|we|our|please"
        r"|remember|forget|call)\b)"
        r"|\s+(?:and|but|so|plus|because|though|although) (?=(?:(?:it )?turns out(?: that)? )?"
        r"(?:I|I'm|I've|my|we)\b)", re.IGNORECASE,
    ),
    shared_subjects=_SHARED_SUBJECTS,
    together=re.compile(
        rf"\b{english_changes.WENT_TO_LIVE} .{{1,60}}?,? {english_changes.BACK}\b"
        rf"|{english_changes.CHANGED_JOBS}|\b{english_changes.MOVED_ON}\b",
        re.IGNORECASE,
    ),
    asking=re.compile(
        r"[,:]? (?:[-–—] )?(?:and |but |so )?(?=(?:can|could|would|will|do|did|are|is|should|may) (?:you|i"
        r"|we|it|there|this|that)\b"
        r"|(?:what|how|which|where|when|who|why|any)\b)", re.IGNORECASE,
    ),
    doubt=re.compile(
        r"\b(?:if(?! (?:possible|needed|necessary|you (?:can|like|need|want|don't mind)|that helps)\b)"
        r"|unless|whether|(?:would|could)(?! (?:actually |literally |really )?kill me\b)"
        r"|might|maybe|perhaps|probably|possibly|wish|hop(?:e|ing)|hopefully"
        r"|suppos(?:e|ing)|imagine|pretend(?:ing)?|dream(?:t|ed)?|hypothetical(?:ly)?|joking|kidding|planning"
        r"|considering|thinking (?:about|of)|sa(?:id|ys|ying)|told|tells|heard|claim(?:s|ed)?|thinks|thought"
        r"|apparently|supposedly|allegedly|rumou?rs?|according to|fictional|for example|for instance|e\.g"
        r"|almost|nearly|when i|not true|(?:don't|do not|can't) believe"
        r"|used to think|as though|in theory|at least i think|i guess|not"
        r" sure)\b|\bI'd\b"
        rf"|{QUOTED}", re.IGNORECASE,
    ),
    fiction=re.compile(
        r"\b(?:imagine|pretend|role-?play|let's say|suppose|hypothetically"
        r"|(?:translate|proofread|rewrite|rephrase|paraphrase|summari[sz]e|correct|polish|shorten) (?:this"
        r"|the|these|my|it)\b"
        r"|(?:write|draft|compose|generate|help me write) (?:me )?(?:an?|the|some|my) .*(?:story|poem|email"
        r"|e-mail|mail|letter"
        r"|song|dialogue|scene|essay|post|message|text|reply|bio|cover letter|example|script|speech"
        r"|tweet))\b", re.IGNORECASE,
    ),
    remember=re.compile(
        r"(?:(?:please|pls|also|and|oh|ok|hey|can you|could you|just) |, )*(?:remember|note|keep in mind"
        r"|bear in mind|make a note"
        r"|do(?:n't| not) forget|for the record|for future reference)(?: for (?:later|next time|the"
        r" future))?,?"
        r"(?: that\b|[,:]| [-–—])+ *(?:(?:please|that) )?(?P<body>(?!to |when |how |what |why |if |whether "
        r"|me\b).{8,300})$", re.IGNORECASE,
    ),
    forget=re.compile(
        r"(?:(?:please|pls|also|and|ok|can you|could you|would you|you can|you should|just|i want you to"
        r"|i'd like you to|i would like you to|i need you to),? )*"
        r"(?:(?:forget|(?:do(?:n't| not)|i do(?:n't| not) want you to) remember|stop remembering)"
        r"(?: everything)?"
        r"|(?:delete|erase|remove)(?=.* from (?:your |the )?memory)"
        r"|(?:delete|erase|remove)(?= my (?:home address|address|phone|phone number|birthday|age|location)"
        r"(?:,? please)?[.!]*$))"
        r"(?: (?:that|about|what i (?:said|told you) about|what you know about|you know about|i told you"
        r" about|the fact that|,? ?please,?))*"
        r"\b[ ,]*(?P<body>.*?)(?: from (?:your |the )?memory)?(?:,? please)?$", re.IGNORECASE,
    ),
    correction=re.compile(
        r"(?:(?:sorry|oops|no|wait|correction|actually|my mistake|my bad|apologies|ah|oh)\b[,.:!–— -]*)+"
        r"(?:(?:i meant(?: to say)?|it's|it is|that's|that should be|it should be|make that) )?(?:on"
        r" )?(?P<new1>.+?),? not (?:on )?(?P<old1>[^,]+)$"
        r"|(?:(?:sorry|oops|no|wait|correction|actually|my mistake|my bad|apologies|ah|oh)\b[,.:!–— -]*)*"
        r"(?:i meant(?: to say)?|correction:|make that|that should be|it should be) (?P<new2>[^,]+)$"
        r"|(?:(?:sorry|oops|no|wait|correction|actually|my mistake|apologies)\b[,.:!–— -]*)+(?:it's|it is)"
        r" (?P<new3>[^,]+)$"
        r"|(?:it's |it is |that's )?not (?P<old4>[^,]+?)(?:,| but)+ (?:but |it's |it is )*(?P<new4>[^,]+)$"
        r"|(?:it's|it is) (?P<new5>[^,]+), not (?P<old5>[^,]+)$", re.IGNORECASE,
    ),
    beside=re.compile(r"(?:my [\w-]+|(?-i:[A-Z][\w'-]+))", re.IGNORECASE),
    it=re.compile(r"it(?P<rest>(?:'s| is| has| got| was| works)\b.*)$", re.IGNORECASE),
    gone=re.compile(
        rf"(?P<name>[\w'-]+)(?P<rest> {english_changes.DIED}\b.*)$", re.IGNORECASE
    ),
    called=re.compile(
        rf"(?:^|[,;:] (?:and |but |though )?| (?:and|but|though) )(?P<tail>{english_rows.OTHERS_CALLED} .+)$",
        re.IGNORECASE,
    ),
    since=re.compile(r"\bsince (?P<time>[\w ]{3,30}?)(?=$|[.,;:!]| and | but )", re.IGNORECASE),
    unreal=re.compile(
        r"\b(?:for example|for instance|e\.g|died|passed away|dead|funeral|late|put down|put to sleep|lost"
        r"|imaginary|ex)\b|"
        r"\bnot my\b", re.IGNORECASE,
    ),
    forgettable=_list_forgettable(),
    inversions=(
        (re.compile(r"(what|where|who|how old) do i (.+)"), r"\1 i \2"),
        (re.compile(r"(what|where|who|when|how old) (am|was) i(.*)"), r"\1 i \2\3"),
        (re.compile(r"(what|who|when)(?: is|'s) (my .+)"), r"\1 \2 is"),
        (re.compile(r"what(?: is|'s) (my .+ name)"), r"\1"),
    ),
    joins=re.compile(r",? (?:and) |, ", re.IGNORECASE),
    own_topic="my {}",
    dangling=DANGLING_EN,
    third_person=english_third_person,
    first_person=english_first_person,
    asked='{who} asked to remember: "{body}."',
    corrected="{fact} (corrected: not {wrong}).",
    and_="{} and ",
    own_thing="my {thing}{rest}",
    said_on="said {}",
    since_when="since {}",
    within="in {}",
    week_of="week of {}",
    months=tuple(names[0].capitalize() for names in WORDS.times.months),
    day_name="{day} {month}{year}",
)  # fmt: skip
