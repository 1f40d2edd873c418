"""English: what its sentences say, as a table. Read `rule.py` for what a row is."""

from varve.domain.language.statements import Lean
from varve.domain.predicates import FAVOURITE
from varve.domain.rules.english_words import EVER, I_AM, I_HAVE, NO_GLUTEN, WE
from varve.domain.rules.rule import (
    OTHER_ALLERGY,
    Row,
    ends,
    ends_if_known,
    gives_name,
    known_as,
    sets,
)

_OPT_DATE = "(?: {time})?(?! (?:or|to|through|until|and) )"
_SIBLING = "(?:(?:older|younger|elder|eldest|oldest|youngest|little|big|twin|baby|middle|new|dear|lovely|beloved) )?"  # noqa: E501

_CANNOT = "(?:can't|cannot|can not)"
_FOOD = (
    r"(?!(?:an?|the|my|your|our|another|any|all|half|every|everything|anything|more|much|many|so|too|that"
    r"|this|it|or|and|healthy|outside|inside|indoors|standing|sitting|lying|\w+(?<!jel)ly|well|properly|enough|out|alone|early|late|fast|slowly|now|today|tonight|breakfast|lunch|dinner"
    r"|supper|brunch|meals?|at|on|in|with|like|for|because|here|there|either|\d)\b)"
    r"(?![^,;:]*\b(?:before|after|without|with|until|today|tonight|tomorrow|yet|fast|enough|when|while|than"
    r"|right now|this (?:week|month|morning|evening)|during|for (?:an?|the|two)|in public"
    r"|at (?:night|noon|home|work|the moment))\b)"
)
"""Begins what a speaker never eats, and no meal or portion."""
_NO_SORT = (
    "(?!(?:any|allergy|allergies|food|drug|medicine|known|other|bad|severe|serious|mild|major|real"
    "|that|this|the|such) )"
)
"""Begins the name of what somebody is allergic to, and no sort or degree of allergies."""
_OVER = "(?:(?:is|are|has|have) (?:now |all )?gone|went away|(?:is|are) over|disappeared|cleared up)"
_OTHER_ALLERGY_FACT = (
    "{who} is allergic to {allergens}, and not to {substances}"
)
_HIVES = "(?:hives|a rash|rashes|an allergic reaction|anaphylaxis|an anaphylactic shock)"
_OFTEN = r"(?=$|[,.;:!]| (?:please|from now on|only|always|going forward)\b)"

_CALLS = "(?:everybody|everyone|people|most people|my friends|all my friends|my family|they|they all) calls?"
OTHERS_CALLED = (
    f"(?:(?:{_CALLS}|we(?: all)? call) (?:him|her|them)|(?:he|she) goes by"
    "|(?:he's|she's|he is|she is) known as|(?:his|her) nickname is)"
)
"""How speakers tell the other name of another person."""
_CALLED = (known_as("{who}", "{name}"), sets("goes_by", "{name}"))

# With numbers: `{name}` may not be the name of the speaker, `{name2}` may.
_OWN_NICKNAME = (
    known_as("{full_name2}", "{name2}"), sets("name", "{full_name2}"), sets("goes_by", "{name2}")
)  # fmt: skip

_SIGNED = (
    r"(?!(?:i|my|this|it|we|he|she|they|that|hey|hi|hello|well|yes|yeah|no|actually|sure|oh|anyway|also|honestly|thanks|sorry|please|now|here)\b)"
    r"(?P<own>(?-i:[A-Z][\w'-]+(?: [A-Z][\w'-]+)?))"
)


def _tell_contact(noun: str) -> str:
    """Return how speakers begin to tell a number or an address of theirs, also a changed one."""
    own = f"my (?:new |personal |current )*{noun}"
    gained = f"(?:I have|I've|I got|I've got|I have got) (?:just )?(?:got )?a new {noun}"
    changed = (
        f"I(?:'ve| have)? {EVER}(?:changed|switched) {own}|{own} (?:has )?(?:just )?changed"
        f"|{gained}"
    )
    became = (
        "(?: to|[,:]?(?: (?:and |so |now )*(?:it's|it is|the new one is))?)"
    )
    return f"(?:{own}(?: is|(?=:))|(?:{changed}){became})(?: now)?:?"


_HIRED = "(?:(?:got|was|been) (?:hired|recruited|taken on) (?:at|by)|got a (?:new )?job (?:at|with))"

ROWS = (
    # Who
    Row(rf"(?:my (?:full |real |legal )?name is|{I_AM}|this is) {{full_name}},? (?:but |and |though )?"
        rf"{_CALLS} me {{name}}(?=$|[,;.])",
        "{whose} name is {full_name}, and {who} goes by {name}",
        (known_as("{full_name}", "{name}"), *gives_name("{full_name}"), sets("goes_by", "{name}")),
        0.8, 0.95),
    Row(rf"(?:my (?:full |real |legal )?name is|{I_AM}|this is) {{full_name2}},? (?:but |and |though )?"
        rf"{_CALLS} me {{name2}}(?=$|[,;.])",
        "{full_name2} goes by {name2}", _OWN_NICKNAME, 0.7, 0.95),
    Row("my (?:full |real |legal )?name is {full_name2}(?=$|[,;.]| and | but )",
        "{whose} name is {full_name2}", gives_name("{full_name2}"), 0.8, 0.95),
    Row(rf"(?:this is|{I_AM} called) {{full_name2}}(?=$|,| here| from | speaking)",
        "{whose} name is {full_name2}", gives_name("{full_name2}"), 0.8),
    Row(rf"{I_AM} {{two_names2}}(?=$|,| and | from )",
        "{whose} name is {two_names2}",
        gives_name("{two_names2}"), 0.8, 0.85),
    Row(rf"{I_AM} {{given_name2}}(?=$|,)",
        "{whose} name is {given_name2}",
        gives_name("{given_name2}"), 0.8, 0.75),
    Row(rf"{_SIGNED}, (?:but |and )?{_CALLS} me (?P<name2>(?-i:[A-Z]\w+))(?=$|[,;.])",
        "{own} goes by {name2}",
        (known_as("{own}", "{name2}"), sets("goes_by", "{name2}")), 0.7, 0.9),
    Row(rf"(?:(?:please |just |you can )*call me|{_CALLS} me|I go by) {{name}}(?=$|[,.;])",
        "{who} goes by {name}", _CALLED, 0.7),
    Row(rf"my {_SIBLING}{{kin}},? {{name}},? (?:but |and |though )?{_CALLS} (?:him|her|them)"
        r" (?P<name2>(?-i:[A-Z]\w+))(?=$|[,;.])",
        "{whose} {kin} {name} goes by {name2}",
        (known_as("{name}", "{name2}"), sets("{kin_of}", "{name}")), 0.7, 0.9),
    Row(rf"{{name}},? (?:but |and |though )?{OTHERS_CALLED} {{name2}}(?=$|[,;.])",
        "{name} goes by {name2}", known_as("{name}", "{name2}"), 0.7, 0.85),
    Row(rf"{I_AM} {{age}} years old", "{who} is {age} years old", sets("age", "{age}"), 0.6, 0.9),
    Row(rf"I(?:'ve| have)? {EVER}turned {{age}}(?: years old)?(?: (?:today|yesterday|this week|last week"
        r"|this month|last month|on {date}))?{end}",
        "{who} is {age} years old", sets("age", "{age}"), 0.6, 0.85, Lean.PAST),
    Row(rf"(?:{I_AM} |I come |I'm originally |I am originally )from {{place}}{{end}}",
        "{who} is from {place}", sets("hometown", "{place}"), 0.6, 0.8),
    Row(r"I was born (?:and raised )?in {place}",
        "{who} was born in {place}", sets("born_in", "{place}"), 0.6),
    # Where
    Row(rf"{WE}(?:'ve| have)? {EVER}moved (?:back )?from {{place2}} to {{place}}",
        "{who} moved from {place2} to {place} and lives there",
        sets("lives_in", "{place}", replaces="{place2}"), 0.8, 0.9, Lean.PAST),
    Row(rf"{WE}(?:'ve| have)? {EVER}(?:moved|relocated)(?: back| house| home| apartments| with my"
        rf" family)* to {{place}}",
        "{who} moved to {place} and lives there", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row(rf"{WE} {EVER}live (?:in|near) {{place}}, not (?:in )?{{place2}}",
        "{who} lives in {place}, not in {place2}",
        sets("lives_in", "{place}", replaces="{place2}"), 0.8, 0.9),
    Row(rf"{WE} {EVER}live in {{place}}", "{who} lives in {place}", sets("lives_in", "{place}"), 0.8, 0.9),
    Row(rf"(?:I've been|I have been|I'm|I am|we're|we are) {EVER}living in {{place}}",
        "{who} lives in {place}", sets("lives_in", "{place}"), 0.8, 0.85),
    Row(rf"{I_AM} {EVER}based in {{place}}",
        "{who} is based in {place}", sets("lives_in", "{place}"), 0.7, 0.8),
    Row(rf"(?:{I_AM}|we're|we are) moving (?:back )?to {{place}}",
        "{who} is moving to {place}", (), 0.7, 0.8, Lean.FUTURE),
    Row(rf"(?:{WE} (?:don't|do not) live in {{place}} (?:any more|anymore|any longer)|{WE} no longer"
        rf" live in {{place2}})",
        "{who} no longer lives in {place}{place2}", ends("lives_in", "{place}{place2}"), 0.7, 0.9),
    Row(rf"{WE} {EVER}moved (?:away from|out of) {{place}}",
        "{who} moved away from {place}", ends("lives_in", "{place}"), 0.7, 0.85, Lean.PAST),
    Row(rf"{WE} used to live in {{place}}",
        "{who} used to live in {place}", ends("lives_in", "{place}"), 0.5, 0.7),
    Row(r"my (?:new |home |current |postal |mailing |shipping )*address(?: is(?: now)?:?|:) {address}",
        "{whose} address is {address}", sets("address", "{address}"), 0.7, 0.9),
    Row(_tell_contact("e-?mail(?: address)?") + " {email}",
        "{whose} email is {email}", sets("email", "{email}"), 0.7, 0.95),
    Row(r"(?:you can )?(?:reach|email|contact) me at {email}",
        "{whose} email is {email}", sets("email", "{email}"), 0.7, 0.85),
    Row(_tell_contact("(?:(?:mobile|cell) )?(?:phone|number|mobile|cell)(?: number)?") + " {phone}",
        "{whose} phone number is {phone}", sets("phone", "{phone}"), 0.7, 0.9),
    Row(r"my time ?zone is(?: now)? {zone}",
        "{whose} time zone is {zone}", sets("time_zone", "{zone}"), 0.6, 0.95),
    Row(rf"{I_AM} (?:in|on) (?:the )?{{zone}} time ?zone",
        "{whose} time zone is {zone}", sets("time_zone", "{zone}"), 0.6, 0.85),
    # Work
    Row(rf"(?:I {EVER}work|{I_AM} {EVER}working|I've been working) (?:at|for) {{company}}(?: full[-"
        rf" ]time| part[- ]time)? as (?:an?|the|their) {{job}}",
        "{who} works at {company}{as_job}",
        (sets("works_at", "{company}"), sets("works_as", "{job}")), 0.8, 0.9),
    Row(rf"(?:I {EVER}work|{I_AM} {EVER}working|I've been working) (?P<for_>at|for) {{company}}(?! any)",
        "{who} works {for_} {company}", sets("works_at", "{company}"), 0.8, 0.85),
    Row(rf"(?:I {EVER}work|{I_AM} {EVER}working) as (?:an? |the )?{{job}}(?: (?:at|for) {{company}})?",
        "{who} works as {a_job}{at_company}",
        (sets("works_as", "{job}"), sets("works_at", "{company}")), 0.7, 0.9),
    Row(rf"{I_AM} (?:now )?(?:an? |the |their )(?:new )?{{job}} (?:at|for) {{company}}",
        "{who} is {a_job} at {company}",
        (sets("works_as", "{job}"), sets("works_at", "{company}")), 0.8, 0.9),
    Row(rf"{I_AM} (?:now )?(?:an? )?{{job}} (?:based|living) in {{place}}(?:{{end}}|(?= with ))",
        "{who} works as {a_job} and is based in {place}",
        (sets("works_as", "{job}"), sets("lives_in", "{place}")), 0.7, 0.8),
    Row(rf"{I_AM} (?:now )?(?:an? )?{{job}} (?:working )?in {{city}}(?:{{end}}|(?= with ))",
        "{who} works as {a_job} and is based in {city}", sets("works_as", "{job}"), 0.7, 0.8),
    Row(rf"{I_AM} (?:now )?(?:an?|the new) {{job}}",
        "{who} works as {a_job}", sets("works_as", "{job}"), 0.7, 0.8),
    Row(rf"{I_AM} (?:now {{job}}|{{job2}} now{{end}})",
        "{who} works as {a_job}", sets("works_as", "{job}{job2}"), 0.7, 0.8),
    Row(rf"I(?:'ve| have)? {EVER}started (?:working |work |a job |a new job |my new job |a new role"
        rf" )?(?:at|with) {{company}}(?: as (?:an? |the )?{{job}})?",
        "{who} started at {company}{as_job}",
        (sets("works_at", "{company}"), sets("works_as", "{job}")), 0.8, 0.85, Lean.PAST),
    Row(rf"I(?:'ve| have)? {EVER}(?:joined|{_HIRED}) {{company}} as (?:an? |the |their )?(?:new )?{{job}}",
        "{who} joined {company}{as_job}",
        (sets("works_at", "{company}"), sets("works_as", "{job}")), 0.8, 0.85, Lean.PAST),
    Row(rf"I(?:'ve| have)? {EVER}{_HIRED} {{company}}",
        "{who} was hired by {company}", sets("works_at", "{company}"), 0.8, 0.8, Lean.PAST),
    # "Hired me a car" and "hired me to paint a fence" are no employment.
    Row(rf"{{company}}(?: has|'s|) {EVER}(?:hired|recruited|taken on|took on) me"
        r"(?: as (?:an? |the |their )?(?:new )?{job}|(?:,? {date})?(?=$|[,;.!]| (?:and|but)\b))",
        "{who} was hired by {company}{as_job}",
        (sets("works_at", "{company}"), sets("works_as", "{job}")), 0.8, 0.8, Lean.PAST),
    Row(rf"(?:I start|{I_AM} starting) (?:working |work |my new job )?(?:at|with) {{company}}",
        "{who} starts at {company}", (), 0.7, 0.8, Lean.FUTURE),
    Row(r"I(?:'ve been|'ve just been| have been| got| was| just got) (?:promoted to|made|appointed|named)"
        r" {job}",
        "{who} was promoted to {job}", sets("works_as", "{job}"), 0.8, 0.9, Lean.PAST),
    Row(r"my (?:new |current )?(?:job title|title|role|job|position) is(?: now)? (?:an? )?{job}",
        "{whose} job is {job}", sets("works_as", "{job}"), 0.7, 0.9),
    Row(rf"I(?:'ve)? {EVER}(?:left|quit) (?:my (?:old )?(?:job|position|role) (?:at|with)"
        rf" {{company}}|{{company2}} (?:after|for a new|to join|as)\b)",
        "{who} left {company}{company2}", ends("works_at", "{company}{company2}"), 0.8, 0.85, Lean.PAST),
    Row(rf"I {EVER}(?:resigned from|got laid off from|was laid off from|got fired from|was fired"
        rf" from) {{company}}",
        "{who} left {company}", ends("works_at", "{company}"), 0.8, 0.8, Lean.PAST),
    Row(rf"I(?:'ve)? {EVER}(?:quit|left|lost) my job(?! (?:at|with|in|as))",
        "{who} left their job", (ends("works_at"), ends("works_as")), 0.8, 0.8, Lean.PAST),
    Row(rf"(?:I (?:don't|do not) work (?:at|for) {{company}} (?:any more|anymore|any longer)|I no longer"
        rf" work (?:at|for|with) {{company2}}|{I_AM} no longer (?:at|for) {{company3}})",
        "{who} no longer works at {company}{company2}{company3}",
        ends("works_at", "{company}{company2}{company3}"), 0.8, 0.9),
    Row(rf"{I_AM} (?:no longer|not) with {{company}}(?:{{end}}| any ?more)",
        "", (ends_if_known("works_at", "{company}"), ends_if_known("has_partner", "{company}")), 0.8, 0.85),
    Row(r"I used to work (?:at|for) {company}",
        "{who} used to work at {company}", ends("works_at", "{company}"), 0.5, 0.75),
    Row(rf"(?:I {EVER}study|{I_AM} {EVER}studying|{I_AM} an? (?:[\w-]+ ){{0,2}}student) at (?:the"
        rf" )?{{company}}",
        "{who} studies at {company}", sets("studies_at", "{company}"), 0.7, 0.85),
    Row(r"my (?:new |current )?{kin} is (?:called |named )?{person}(?=$|[,;.] | and | but )",
        "{whose} {kin} is {person}", sets("{kin_of}", "{person}"), 0.7, 0.85),
    # Likes
    Row(rf"(?:I (?:don't|do not) (?:really )?(?:like|love|enjoy) {{item}} (?:any more|anymore|any"
        rf" longer)|I no longer (?:like|love|enjoy) {{thing2}}|{I_HAVE} gone off {{thing3}})",
        "{who} no longer likes {item}{thing2}{thing3}",
        (ends("likes", "{item}{thing2}{thing3}"), ends_if_known(FAVOURITE, "{item}{thing2}{thing3}")),
        0.6, 0.8),
    Row(r"(?:I (?:don't|do not) (?P<use>eat|drink|take) {item} (?:any more|anymore|any longer)|I no longer"
        r" (?P<use2>eat|drink|take) {thing})",
        "{who} no longer {use}{use2}s {item}{thing}", ends_if_known("drinks", "{item}{thing}"), 0.6, 0.85),
    Row(rf"I {EVER}{{verb}} {{things}}", "{who} {verb} {things}", sets("likes", "{things}"), 0.5, 0.8),
    Row(rf"{I_AM} (?:a (?:big|huge) fan of|(?:really |very |super )?(?:into|fond of|keen on)) {{things}}",
        "{who} likes {things}", sets("likes", "{things}"), 0.5, 0.75),
    Row(r"my (?:new |all-time |current )?favou?rite {sort} is (?:now )?{thing2}",
        "{whose} favourite {sort} is {thing2}", sets("{favourite}", "{thing2}"), 0.6, 0.85),
    Row(rf"I {EVER}(?:hate|dislike|detest|loathe|can't stand|cannot stand|(?:don't|do not)"
        rf" (?:like|enjoy)|(?:don't|do not) really like) (?!.* any ?more\b){{things}}",
        "{who} dislikes {things}", sets("dislikes", "{things}"), 0.5, 0.8),
    Row(rf"I {EVER}prefer {{item}} (?:to|over|rather than|instead of) {{thing2}}",
        "{who} prefers {item} to {thing2}", sets("prefers", "{item}"), 0.6, 0.85),
    Row(rf"I {EVER}prefer {{thing}}", "{who} prefers {thing}", sets("prefers", "{thing}"), 0.6, 0.85),
    Row(r"(?:please )?always (?:answer|reply|respond|write)(?: to)?(?: me)? in {language}",
        "{who} wants answers in {language}", sets("language", "{language}"), 0.8, 0.9),
    Row(rf"(?:(?:please )?(?:(?:answer|reply to|respond to|write to|talk to) me(?: back)? in {{language}}"
        rf"|speak {{language2}} (?:to|with) me)|please (?:answer|reply|respond) in {{language3}}){_OFTEN}",
        "{who} wants answers in {language}{language2}{language3}",
        sets("language", "{language}{language2}{language3}"), 0.8, 0.85),
    Row(r"(?:my pronouns are|I (?:use|go by)) (?:the )?{pronouns}(?: pronouns)?{end}",
        "{whose} pronouns are {pronouns}", sets("pronouns", "{pronouns}"), 0.8, 0.95),
    Row(rf"(?:I {EVER}speak|{I_AM} fluent in|my (?:native language|mother tongue|first language) is)"
        r" (?:fluent )?{languages}(?:{end}|(?= and\b))",
        "{who} speaks {languages}", sets("speaks", "{languages}"), 0.6, 0.85),
    Row(r"(?:I (?:can )?no longer speak|I (?:don't|do not|can't|cannot) speak(?=.* any ?(?:more|longer)\b)"
        r"|I(?:'ve| have)? stopped speaking) (?:either )?{languages}(?: any more| anymore| any longer)?{end}",
        "{who} no longer speaks {languages}",
        (ends("speaks", "{languages}"), ends_if_known("speaks", "{languages_otherwise}")), 0.6, 0.85),
    Row(r"I (?:don't|do not|can't|cannot) speak (?:either )?{languages}{end}", "",
        (ends_if_known("speaks", "{languages}"), ends_if_known("speaks", "{languages_otherwise}")), 0.6, 0.8),
    Row(rf"{I_AM} {EVER}learning {{language}}",
        "{who} is learning {language}", sets("learns", "{language}"), 0.5, 0.85),
    # Health and diet
    Row(rf"{I_AM} (?:not|no longer)(?: actually)? allergic to {{substances}},? (?:only|just|but)"
        r" (?:(?:only|just|rather) )?(?:allergic )?(?:to )?{allergens}{end}",
        _OTHER_ALLERGY_FACT, OTHER_ALLERGY, 0.9, 0.9),
    Row(rf"{I_AM} (?:only |just )?allergic to {{allergens}},? (?:and |but )?not (?:allergic )?(?:to )?"
        r"{substances}{end}",
        _OTHER_ALLERGY_FACT, OTHER_ALLERGY, 0.9, 0.9),
    Row(rf"(?:{I_AM} (?:not|no longer)|I was never|I never was|I(?:'ve| have) never been)(?: actually)?"
        r" allergic to (?:either )?{substances}",
        "{who} is no longer allergic to {substances}", ends("allergic_to", "{each_substance}"), 0.9, 0.9),
    Row(r"I (?:(?:don't|do not) have|no longer have) (?:an? |any |my )?allerg(?:y|ies) to (?:either )?"
        r"{substances}",
        "{who} is no longer allergic to {substances}", ends("allergic_to", "{each_substance}"), 0.9, 0.9),
    Row(rf"(?:I (?:(?:don't|do not) have|no longer have) (?:an? |my )?|I(?:'ve| have)? {EVER}(?:outgrown?"
        rf"|outgrew) my |my (?=[^,;.]* allerg(?:y|ies) {_OVER})){_NO_SORT}{{substances}} allerg(?:y|ies)",
        "{who} is no longer allergic to {substances}", ends("allergic_to", "{each_substance}"), 0.9, 0.9),
    Row(rf"{I_AM} (?:very |really |severely |extremely |deathly |highly |mildly |also |quite |only |just )*"
        rf"allergic (?:only |just )?to (?:both )?{{substances}}",
        "{who} is allergic to {substances}", sets("allergic_to", "{each_substance}"), 0.9, 0.95),
    Row(rf"{I_HAVE} (?:an? )?(?:bad |severe |serious |mild )?allerg(?:y|ies) to (?:both )?{{substances}}",
        "{who} is allergic to {substances}", sets("allergic_to", "{each_substance}"), 0.9, 0.9),
    Row(r"I have (?:an? )?(?:bad |severe |serious |mild )?(?!(?:allergy|allergies|food) ){substances} allerg"
        r"(?:y|ies)",
        "{who} is allergic to {substances}", sets("allergic_to", "{each_substance}"), 0.9, 0.85),
    Row(rf"(?:{I_AM}|I've gone|I went|I've become) (?:now )?(?:a )?(?:strict"
        rf" )?{{diet}}(?: now)?{{end}}",
        "{who} is {diet}", sets("diet", "{diet}"), 0.8, 0.9),
    Row(rf"{I_AM} {EVER}(?:an? )?{{ill}}(?: now)?{{end}}",
        "{who} has {illness}", sets("has_condition", "{illness}"), 0.9, 0.9),
    Row(rf"{I_HAVE} {EVER}(?:got |been diagnosed with )?{{condition}}{{end}}",
        "{who} has {condition}", sets("has_condition", "{condition}"), 0.9, 0.9),
    Row(rf"(?:{I_AM} (?:not|no longer) (?:an? )?{{ill}}|I (?:don't|do not|no longer) have {{condition}})"
        r"(?: any ?more| any longer)?{end}",
        "{who} does not have {illness}{condition}", ends("has_condition", "{illness}{condition}"), 0.9, 0.85),
    Row(r"my diet is {diet}{end}", "{who} is {diet}", sets("diet", "{diet}"), 0.8, 0.9),
    Row(rf"I {EVER}{_CANNOT} eat {_FOOD}{{substances}}",
        "{who} cannot eat {substances}", sets("cannot_eat", "{each_substance}"), 0.9, 0.85),
    Row(rf"(?:I {EVER}(?:{_CANNOT} (?:have|drink|tolerate|digest)|(?:don't|do not) tolerate) (?:any )?"
        rf"|{I_AM} {EVER}intolerant to ){{allergens}}{{end}}",
        "{who} does not tolerate {allergens}", sets("cannot_eat", "{allergens}"), 0.9, 0.85),
    Row(rf"(?:{I_AM} (?:not|no longer) (?:{{allergens}}[- ]intolerant|intolerant to {{allergens2}})"
        rf"|I can {EVER}tolerate {{allergens3}}(?: again|{{end}}))",
        "{who} tolerates {allergens}", ends("cannot_eat", "{allergens}"), 0.9, 0.85),
    Row(rf"(?:{I_AM} {EVER}(?:an? )?(?:{NO_GLUTEN})|I have (?:{NO_GLUTEN}) disease"
        rf"|(?:{I_HAVE} {EVER}been|I was) {EVER}diagnosed (?:as (?:an? )?(?:{NO_GLUTEN})"
        rf"|with (?:{NO_GLUTEN}) disease)){{end}}",
        "{who} is coeliac", sets("cannot_eat", "gluten"), 0.9, 0.9),
    Row(rf"(?:{I_AM} (?:not|no longer) (?:an? )?(?:{NO_GLUTEN})"
        rf"|I (?:don't|do not) have (?:{NO_GLUTEN}) disease)\b",
        "{who} is not coeliac", ends("cannot_eat", "gluten"), 0.9, 0.85),
    Row(rf"{I_AM} {EVER}{{allergens}}[- ]intolerant",
        "{who} does not tolerate {allergens}", sets("cannot_eat", "{allergens}"), 0.9, 0.9),
    Row(r"{allergens} (?:(?:don't|doesn't|do not|does not) agree|disagrees?) with me{end}",
        "{who} does not tolerate {allergens}", sets("cannot_eat", "{allergens}"), 0.8, 0.85),
    Row(r"(?:an? |the |eating )?{allergens} (?:could|can|would|will)(?: actually| literally| really)? kill"
        r" me{end}",
        "{who} is allergic to {allergens}", sets("allergic_to", "{allergens}"), 0.9, 0.85),
    Row(rf"(?:(?:eating )?{{allergens}} gives? me {_HIVES}{{end}}"
        rf"|I {EVER}(?:get|break out in|come out in) {_HIVES} from"
        r" {allergens2}{end})",
        "{who} is allergic to {allergens}", sets("allergic_to", "{allergens}"), 0.9, 0.85),
    Row(rf"I can {EVER}eat {_FOOD}{{item}} again{{end}}",
        "{who} can eat {item} again", ends("cannot_eat", "{item}"), 0.8, 0.85),
    # Family and pets
    Row(rf"{WE} have (?:an? |got an? ){_SIBLING}{{kin}},? (?:called |named |whose name is ){{name}}",
        "{whose} {kin} is called {name}", sets("{kin_of}", "{name}"), 0.7, 0.9),
    Row(r"(?:my|our) (?:new |old |little )?{pet}(?:'s name is|(?:'s| is) (?:called|named)|,) {name}",
        "{whose} {pet} is called {name}",
        (sets("has_pet", "{name}"), sets("is_a", "{pet}", "{name}")), 0.7, 0.9),
    Row(rf"{WE}(?:'ve| have)? {EVER}{{got}} (?P<article>an?) (?:\w+ )?{{pet}},? (?:called|named) {{name}}",
        "{who} {got} {article} {pet} called {name}",
        (sets("has_pet", "{name}"), sets("is_a", "{pet}", "{name}")), 0.7, 0.9, Lean.PAST),
    Row(rf"my {_SIBLING}{{kin}}(?:'s name is|(?:'s| is) (?:called|named)) {{name}}",
        "{whose} {kin} is called {name}", sets("{kin_of}", "{name}"), 0.7, 0.95),
    Row(rf"{I_AM} married to {{name}}",
        "{who} is married to {name}", sets("married_to", "{name}"), 0.7, 0.9),
    Row(rf"{{name}} is my {_SIBLING}{{kin}}{{end}}",
        "{whose} {kin} is called {name}", sets("{kin_of}", "{name}"), 0.7, 0.9),
    Row(rf"\bmy {_SIBLING}{{kin}},? {{name}}(?! (?:and|or|&) (?!I\b|me\b))",
        "{whose} {kin} is called {name}", sets("{kin_of}", "{name}"), 0.6, 0.85, anywhere=True),
    Row(r"\bmy (?:new |old |little )?{pet},? {name}(?! (?:and|or|&) (?!I\b|me\b))",
        "{whose} {pet} is called {name}",
        (sets("has_pet", "{name}"), sets("is_a", "{pet}", "{name}")), 0.6, 0.85, anywhere=True),
    Row(rf"my {_SIBLING}{{kin}} {{name}} (?:lives in|(?:has )?(?:just |recently )?moved to) {{place}}",
        "{whose} {kin} {name} lives in {place}", sets("lives_in", "{place}", "{name}"), 0.6, 0.85, Lean.PAST),
    Row(rf"my {_SIBLING}{{kin}} {{name}} (?:is|'s) allergic to (?:both )?{{substances}}",
        "{whose} {kin} {name} is allergic to {substances}",
        sets("allergic_to", "{each_substance}", "{name}"), 0.8, 0.9),
    Row(rf"my {_SIBLING}{{kin}} {{name}}(?:(?: is|'s) (?:not|no longer)| isn't) allergic to {{substances}}",
        "{whose} {kin} {name} is no longer allergic to {substances}",
        ends("allergic_to", "{each_substance}", "{name}"), 0.9, 0.9),
    Row(rf"my {_SIBLING}{{kin}} {{name}} can {EVER}(?:eat|have|take) {{item}} (?:again|after all)",
        "{whose} {kin} {name} can have {item}",
        ends_if_known("allergic_to", "{item}", "{name}"), 0.8, 0.85),
    # Dates
    Row(r"my birthday(?:'s| is) {birthdate}(?! (?:party|dinner))",
        "{whose} birthday is {day_name}", sets("birthday", "{birthday}"), 0.8, 0.95, Lean.FUTURE),
    Row(r"I was born {birthdate}",
        "{whose} birthday is {day_name}", sets("birthday", "{birthday}"), 0.8, 0.95, Lean.PAST),
    Row(r"it's my birthday {birthdate}",
        "{whose} birthday is {day_name}", sets("birthday", "{birthday}"), 0.8, 0.9, Lean.FUTURE),
    Row(rf"my {_SIBLING}{{kin}} {{name}}'s birthday(?:'s| is) {{birthdate}}",
        "The birthday of {name}, {whose} {kin}, is {day_name}",
        (sets("{kin_of}", "{name}"), sets("birthday", "{birthday}", "{name}")), 0.7, 0.9, Lean.FUTURE),
    Row(rf"my {_SIBLING}{{kin}}'s birthday(?:'s| is) {{birthdate}}",
        "The birthday of {whose} {kin} is {day_name}",
        sets("birthday", "{birthday}", "{whose} {kin}"), 0.7, 0.9, Lean.FUTURE),
    Row(rf"my {{event}} {{set_for}} {{date}}{_OPT_DATE}",
        "{whose} {event} {set_for} {date}{at_time}", (), 0.7, 0.85, Lean.FUTURE),
    Row(rf"the {{event}} {{set_for}} {{date}}{_OPT_DATE}",
        "The {event} {set_for} {date}{at_time}", (), 0.6, 0.8, Lean.FUTURE),
    Row(rf"(?:I have|I've got|I've|we have) (?P<article>an?) {{event}} {{date}}{_OPT_DATE}",
        "{who} has {article} {event} {date}{at_time}", (), 0.7, 0.85, Lean.FUTURE),
    Row(rf"(?:I fly|I'm flying|I am flying|we fly|we're flying) to {{place}} {{date}}{_OPT_DATE}",
        "{who} flies to {place} {date}{at_time}", (), 0.7, 0.85, Lean.FUTURE),
    # Numbers with a label
    Row(r"\bmy (?P<what>(?:{labels})(?: number| id| code| reference| no\.?)?) (?:is|was):? {any_code}",
        "{whose} {what} is {any_code}", (), 0.6, 0.9, anywhere=True),
    Row(r"\b(?P<what>{labels})(?: (?:number|id|code|reference|no\.?))?(?: is| was)?:? {code}",
        "{who} mentioned {what} {code}", (), 0.6, 0.9, anywhere=True),
    Row(r"\b(?P<what>{labels})(?: (?:number|id|code|reference|no\.?)(?: is| was)?:?| is:?| ?#|:)"
        r" ?{number}",
        "{who} mentioned {what} {number}", (), 0.6, 0.85, anywhere=True),
)  # fmt: skip
