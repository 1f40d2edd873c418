"""English: what its sentences say of a change of state, as a table. Read `rule.py` for what a row is."""

from varve.domain.language.names import NAME
from varve.domain.language.statements import Lean
from varve.domain.rules.english_words import (
    DATES,
    END,
    EVER,
    I_AM,
    I_HAVE,
    WE,
)
from varve.domain.rules.rule import (
    Change,
    Row,
    ends,
    ends_if_known,
    returns_if_known,
    sets,
)
from varve.domain.rules.values import among_foods

_HAVE = "(?:'ve| have|)"
_ANY_MORE = "(?: any more| anymore| any longer)"
_WHEN = r"(?:{end}|(?:,? {date}| this morning| today| for good)(?=$|[,;.]| and | but | to ))"
_OFF = "(?:let go|laid off|fired|made redundant)"
_ENDED = "(?:broke up|split up|broken up|separated)"
_FIXED = "(?:fixed|repaired|mended|sorted out|replaced)"
_CANCELLED = "(?:cancell?ed|called off)"
_STAY = rf"(?: (?:for [\w ]{{1,20}}|{DATES.pattern}))?"
BACK = (
    "(?:but|and) (?:(?:I|we|then|later|now|have|soon|'ve|'m|'re|am|are|already|) ?){0,3}"
    "(?:came|moved|went|come|gone|returned|)(?: straight|) ?back"
)
_TO_STAY = "(?: for good| to stay| permanently)"
_VISIT = r"(?! (?:for (?!good)|on |to (?!live|stay)))"
_HOME = (
    rf"(?:{_TO_STAY}|(?=$|[,;.!)]| (?:now|again|at last|because|since|so|these days|after all"
    r"|after [\w-]+ (?:[\w-]+ (?:abroad|away|there)|days?|weeks?|months?|years?)"
    r"|and (?:i|my|we|it|so|the|live|work|have|am|looking))\b))"
)
"""Ends the words of a return that is no visit."""
DIED = (
    "(?:has |)(?:just |sadly |)(?:passed away|died|been put (?:down|to sleep)|(?:was|had to be) put (?:down"
    "|to sleep))"
)
"""Said of a pet."""
_DOCTOR = r"(?:doctor|doctors|gp|consultant|specialist|hospital|psychiatrist|nurse|allergist|\w+ologist)"
HEALTH_FOUND = (
    rf"(?:(?:my|the|our) (?:{_DOCTOR}|(?:(?:allergy|blood|skin) )?tests?)(?: has| have|)(?: just| now|)"
    r" (?:says?|said|confirm(?:s|ed)?|found|show(?:s|ed|n)?|(?:tells?|told) me)(?: that)?"
    rf"|according to (?:my|the) {_DOCTOR})"
    r"(?=,? (?:I'm|I am|I was|I have|I've) .*\b(?:allerg|intoleran|coeliac|celiac))"
)
"""What a doctor or a test finds of an allergy is no hearsay."""
_NO_DRUG = (
    r"(?!.*\b(?:list|case|books?|register|hook|rota|schedule|trial|call)\b)"
)
_GOT = "(?:'s| is| has| was| got| has been| have been|'s been| had)"
_LEFT_JOB = (
    r"I(?: (?:don't|do not) work (?:at|for) {company}(?: any ?more| any longer)?"
    r"|(?: no longer work (?:at|for)|(?:'ve| have|)(?: just| now|) (?:left|quit)) {company3})"
)
_NOW_AT = (
    "(?:(?:now (?:I'm |I am )?|(?:I'm|I am) (?:now )?)(?:at|with)"
    "|(?:(?:I|I'm|I am|now) ){0,2}(?:start(?:ing|ed)?(?: work(?:ing)?| a new job)? (?:at|with)"
    "|join(?:ing|ed)?))"
)
CHANGED_JOBS = (
    rf"\b{_LEFT_JOB.format(company='.{1,40}?', company3='.{1,40}?')},? (?:and |but |){_NOW_AT}"
    rf" {NAME}(?: now)?{END}"
)
"""An employer and the next one, which are read together."""
_ONCE = "(?:just |recently |finally |now |officially |)"
_AGAIN = "(?=$|[,;.!)]| (?:again|now|after all|for good|full[- ]time|since|because|and|but|as an?)\\b)"
"""Ends the words of a return to work that is no visit."""
_NO_JOB = (ends("works_at"), ends("works_as"))
_OWN_BUSINESS = (
    "(?:(?:start|open|found|set|launch|buil[dt]|run)(?:ed|ing|ning)?(?: up)? (?:my|our) own"
    "|(?:go|going|went|gone|become|became|turned|work|working) (?:freelance|freelancing|self-employed"
    "|independent)|freelanc(?:e|ing)|self-employed|work(?:ing)? for (?:myself|ourselves))"
)

_ON_OWN = (
    f"(?:{I_AM} {_ONCE}(?:self-employed|freelancing|working (?:for myself|freelance))"
    f"|I {_ONCE}(?:freelance|work for myself|work freelance|run my own business)"
    f"|I(?:'ve| have)? {_ONCE}(?:gone|went|turned|become|became) (?:freelance|self-employed))"
)
"""Told by those who are their own employer, and who name no other beside it."""
_ON_OWN_ENDS = (
    r"(?: (?:now|these days|nowadays|full[- ]time|again))*"
    r"(?=$|[,;.!)]| (?:and|but|because|since) )"
)
MOVED_ON = (
    rf"{WE}{_HAVE} {EVER}(?:moved|relocated)(?: house| homes?| flats?| apartments?| again)?"
    rf"(?:,? {DATES.pattern})?(?:,| [-–—]| and|, and| so) (?:(?:now|we|I|we're|I'm|are|am|so) ){{0,3}}in"
)
"""A move and where it led, which are read together."""
WENT_TO_LIVE = (
    "(?:(?:moved|relocated) to|(?:went to live|settled(?: down)?) in)"
)


def _repair(whose: str, named: str) -> tuple[Row, ...]:
    """Return the rows of a thing that is mended, works again or is lost."""
    thing = f"{whose} {{device}}(?: (?:in|at|of) (?:my|our|the) [\\w-]+)?"
    return (
        Row(rf"{thing}(?:'s| is) (?:all |finally |now |already |)(?P<state>{_FIXED}){_WHEN}",
            named + " is {state}", (), 0.5, 0.8, Lean.PAST),
        Row(rf"{thing}(?:'s been| has been| has finally been| got| was|'s finally been)"
            rf" (?P<state>{_FIXED}){_WHEN}",
            named + " has been {state}", (), 0.5, 0.85, Lean.PAST),
        Row(rf"{thing}(?:'s| is) (?:finally |now |)(?P<state>working again|back (?:up|online))",
            named + " is {state}", (), 0.5, 0.8),
        Row(rf"{thing} (?:now |finally |)works again", named + " works again", (), 0.5, 0.8),
    )  # fmt: skip


_EAT_AGAIN = (
    f"(?:(?:I {EVER}eat|{I_AM} {EVER}eating|I{_HAVE} {EVER}(?:started|begun|began) eating) {{food}} again"
    f"|(?:I{_HAVE} {EVER}(?:gone|went)|{I_AM} {EVER}) ?back to eating {{food2}})"
)


def _end_diets(food: str, *diets: str) -> Row:
    """Return the row of food that is eaten again and that these diets leave out."""
    words = _EAT_AGAIN.format(
        food=f"(?P<food>{among_foods(food, 'and|or')})",
        food2=f"(?P<food2>{among_foods(food, 'and|or')})",
    )
    changes: list[Change] = [ends_if_known("diet", diet) for diet in diets]
    return Row(
        words + "{end}",
        "{who} eats {food}{food2} again",
        tuple(changes),
        0.8,
        0.85,
    )


ROWS = (
    # Work
    Row(rf"I{_HAVE} {EVER}(?:quit|left|resigned from){_HAVE} {{company}}(?: {{date}})?,?"
        rf" (?:and|to|for)(?: (?:then |just |now |have |)(?:joined|join|started (?:at|with)|start at"
        r"|work (?:at|for)|working (?:at|for)))? {company2}",
        "{who} left {company} and joined {company2}",
        (ends("works_at", "{company}"), sets("works_at", "{company2}")), 0.8, 0.85, Lean.PAST),
    Row(_LEFT_JOB.format(company="{company}", company3="{company3}")
        + rf",? (?:and |but |){_NOW_AT} {{company2}}(?: now)?{{end}}",
        "{who} left {company}{company3} and works at {company2}",
        (ends("works_at", "{company}{company3}"), sets("works_at", "{company2}")), 0.8, 0.85),
    # A shop or an airport is returned to as well: only an employer that is known counts.
    Row(rf"(?:{I_AM} {EVER}(?:working |)back (?:at|with|working (?:at|for))"
        rf"|I{_HAVE} {EVER}(?:(?:gone|went|come|came) back|returned) to|I{_HAVE} {EVER}rejoined)"
        rf" {{company}}{_AGAIN}",
        "", returns_if_known("works_at", "{company}"), 0.8, 0.8),
    Row(rf"I{_HAVE} {EVER}quit {{company}}{_WHEN}",
        "{who} left {company}", ends("works_at", "{company}"), 0.8, 0.8, Lean.PAST),
    Row(rf"I{_HAVE} {EVER}(?:quit|left|resigned from) {{company}}(?: {{date}})?,? (?:and|to)"
        rf" (?:(?:then|just|now|have|i|i've|i'm|am) )*{_OWN_BUSINESS}\b",
        "{who} left {company}", ends("works_at", "{company}"), 0.8, 0.85, Lean.PAST),
    # A place is left as well: it ends only an employer that is known.
    Row(rf"I{_HAVE} {EVER}left {{company}}(?: for good)?{_WHEN}",
        "", ends_if_known("works_at", "{company}"), 0.7, 0.8, Lean.PAST),
    Row(rf"I{_HAVE} {EVER}(?:quit|resigned|stepped down){_WHEN}",
        "{who} left their job", _NO_JOB, 0.8, 0.75, Lean.PAST),
    Row(rf"(?:I{_HAVE} {EVER}(?:was|got|been|lost my job and was) {_OFF}|they {_OFF} me"
        rf"|I{_HAVE} {EVER}lost my job){_WHEN}",
        "{who} lost their job", _NO_JOB, 0.8, 0.85, Lean.PAST),
    Row(rf"(?:I{_HAVE} {EVER}retired|{I_AM} retired){_WHEN}",
        "{who} is retired", _NO_JOB, 0.8, 0.85, Lean.PAST),
    Row(rf"{_ON_OWN} as (?:an? )?{{job}}",
        "{who} is self-employed{as_job}",
        (ends("works_at"), sets("works_as", "{job}")), 0.8, 0.85, Lean.PAST),
    Row(rf"{_ON_OWN}(?:,? {{date}}{{end}}|{_ON_OWN_ENDS})",
        "{who} is self-employed", ends("works_at"), 0.8, 0.85, Lean.PAST),
    Row(rf"I(?:'ve| have)? {EVER}(?:(?:retrained|requalified|reskilled|qualified) (?:as|to be(?:come)?)"
        rf"|become|became) (?:an? )?{{job}}",
        "{who} works as {a_job}", sets("works_as", "{job}"), 0.8, 0.85, Lean.PAST),
    Row(rf"I{_HAVE} {EVER}(?:handed in my (?:notice|resignation)|gave (?:my |)notice)(?: (?:at|to)"
        r" {company})?",
        "{who} gave notice{at_company}", (), 0.7, 0.85, Lean.PAST),
    Row(rf"{I_HAVE} (?:been (?:with|at)|worked (?:at|for|with)) {{company}} since",
        "{who} works at {company}", sets("works_at", "{company}"), 0.8, 0.85),
    Row(rf"{I_HAVE} been (?:an? |the |working as an? ){{job}}(?: (?:at|for) {{company}})? since",
        "{who} works as {a_job}{at_company}",
        (sets("works_as", "{job}"), sets("works_at", "{company}")), 0.7, 0.85),
    Row(rf"I{_HAVE} {EVER}(?:dropped out of|graduated from) (?:the )?{{company}}",
        "{who} no longer studies at {company}", ends("studies_at", "{company}"), 0.7, 0.85, Lean.PAST),
    # Where
    Row(rf"{WE}{_HAVE} {EVER}{WENT_TO_LIVE} {{place}}{_STAY},? {BACK}"
        rf"(?: home|) (?:to|in) {{place2}}{_VISIT}",
        "{who} came back from {place} to {place2} and lives there",
        (ends("lives_in", "{place}"), sets("lives_in", "{place2}")), 0.8, 0.85),
    Row(rf"{WE}{_HAVE} {EVER}{WENT_TO_LIVE} {{place}}{_STAY},? {BACK}"
        r"(?: home| again| already)?{end}",
        "{who} came back from {place}", ends("lives_in", "{place}"), 0.7, 0.8),
    Row(rf"{MOVED_ON} {{place}}(?=$|[,;.!)]| (?:now|and|but|these days)\b)",
        "{who} moved to {place} and lives there", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row(rf"I{_HAVE} {EVER}left {{place2}} and (?:moved|relocated) to {{place}}",
        "{who} moved from {place2} to {place} and lives there",
        sets("lives_in", "{place}", replaces="{place2}"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:{I_AM}|we're|we are) {EVER}back (?:home )?(?:living )?in (?!\S*\d){{place}}{_HOME}",
        "{who} moved back to {place} and lives there", sets("lives_in", "{place}"), 0.8, 0.8),
    Row(rf"{WE}(?:'ve| have) {EVER}(?:(?:come|gone|got|gotten) back|returned)(?: home)? to {{city}}{_HOME}",
        "{who} moved back to {city} and lives there", sets("lives_in", "{city}"), 0.8, 0.8, Lean.PAST),
    Row(rf"{WE}{_HAVE} {EVER}(?:(?:came|come|went|gone) back|returned) to (?:live in {{place}}"
        rf"|{{place2}}{_TO_STAY})",
        "{who} moved back to {place}{place2} and lives there",
        sets("lives_in", "{place}{place2}"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:{WE}{_HAVE}|{I_AM}|we're|we are) {EVER}settled(?: down)? in {{place}}"
        r"(?:,? {date}|(?: (?:now|these days|nowadays|at last|for good))?)(?=$|[,;.!)]| (?:and|but) )",
        "{who} settled in {place} and lives there", sets("lives_in", "{place}"), 0.8, 0.85, Lean.PAST),
    Row(r"(?:I've|I have|we've|we have) (?:been (?:living |based )?in|lived in) {place} since",
        "{who} lives in {place}", sets("lives_in", "{place}"), 0.8, 0.85),
    # Diet, pets
    _end_diets("(?:red )?meat|beef|steak|chicken|pork", "vegan", "vegetarian", "pescatarian"),
    _end_diets("fish|seafood", "vegan", "vegetarian"),
    _end_diets("dairy|cheese|eggs|animal products", "vegan"),
    Row(rf"(?:{I_AM} (?:no longer (?:a )?{{diet}}|not (?:a )?{{diet2}}{_ANY_MORE})"
        rf"|I{_HAVE} (?:stopped being|gave up being) (?:a )?{{diet3}})",
        "{who} is no longer {diet}{diet2}{diet3}", ends("diet", "{diet}{diet2}{diet3}"), 0.8, 0.85),
    Row(rf"{WE} (?:(?:don't|do not) have (?:a|the|our|my) {{pet}}{_ANY_MORE}|no longer have (?:a|the|our"
        r"|my) {pet2})",
        "{who} no longer has a {pet}{pet2}", ends("has_pet"), 0.7, 0.8),
    Row(rf"(?:my|our) (?:\w+ )?{{pet}},? {{name}},? {DIED}\b",
        "{whose} {pet} {name} died", ends("has_pet", "{name}"), 0.7, 0.85, Lean.PAST),
    # Medicine
    Row(rf"(?:my|the|our) {_DOCTOR}(?: has| have|)(?: just| finally|) (?:took|taken) me off"
        rf" (?:the |my )?{_NO_DRUG}{{item}}{_WHEN}",
        "{who} no longer takes {item}", (), 0.7, 0.85, Lean.PAST),
    Row(rf"I{_HAVE} {EVER}(?:stopped|given up|gave up) taking (?:the |my )?{{item}}{_WHEN}",
        "{who} no longer takes {item}", (), 0.7, 0.8, Lean.PAST),
    # Family
    Row(rf"(?:my (?:boyfriend|girlfriend|partner|fianc[eé]e?) and I|we)(?:'ve| have|) {EVER}{_ENDED}"
        rf"{_WHEN}",
        "{who} and their partner broke up", ends("has_partner"), 0.8, 0.85, Lean.PAST),
    Row(rf"I{_HAVE} {EVER}(?:broke up|split up|broken up) with my (?:boyfriend|girlfriend|partner"
        rf"|fianc[eé]e?){_WHEN}",
        "{who} and their partner broke up", ends("has_partner"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:I{_HAVE} {EVER}(?:broke up|split up|broken up) with {{name}}"
        rf"|(?:{{name2}} and (?:I|me)|(?:me|I) and {{name3}}){_HAVE} {EVER}{_ENDED}){_WHEN}",
        "{who} and {name}{name2}{name3} broke up",
        ends("has_partner", "{name}{name2}{name3}"), 0.8, 0.85, Lean.PAST),
    Row(r"{name} (?:(?:has |)(?:just |)(?:dumped|left) me|and me are over|is my ex(?: now|)){end}",
        "", ends_if_known("has_partner", "{name}"), 0.8, 0.8),
    Row(rf"(?:{I_AM} (?:now |recently |)divorced|(?:I|we|my (?:wife|husband) and I){_HAVE} {EVER}"
        rf"(?:got |gotten |)divorced){_WHEN}",
        "{who} is divorced", ends("married_to"), 0.8, 0.85, Lean.PAST),
    Row(rf"(?:I{_HAVE} {EVER}(?:divorced|got divorced from) {{name}}"
        rf"|{{name2}} and I{_HAVE} {EVER}(?:got |gotten |)divorced){_WHEN}",
        "{who} and {name}{name2} are divorced",
        ends("married_to", "{name}{name2}"), 0.8, 0.85, Lean.PAST),
    Row(rf"{I_AM} (?:now |)single(?: again| now|)(?=$|[,;.])",
        "{who} is single", (ends("has_partner"), ends("married_to")), 0.7, 0.8),
    Row(rf"(?:we're|we are) (?:no longer|not) together(?:{_ANY_MORE}|(?=$|[,;.]))",
        "{who} and their partner broke up", ends("has_partner"), 0.7, 0.75),
    Row(rf"(?:I{_HAVE}|{I_AM}) {EVER}(?:got |)engaged to {{name}}",
        "{who} is engaged to {name}", sets("has_partner", "{name}"), 0.7, 0.85),
    Row(rf"I{_HAVE} {EVER}(?:married|got married to) {{name}}",
        "{who} married {name}", sets("married_to", "{name}"), 0.7, 0.85, Lean.PAST),
    Row(rf"{WE}{_HAVE} {EVER}got married {{date}}",
        "{who} got married", (), 0.7, 0.85, Lean.PAST),
    # Things cancelled, broken and mended
    Row(rf"{WE}{_HAVE} {EVER}{_CANCELLED} (?:my|our|the) {{booked}}{{end}}",
        "{who} cancelled their {booked}", (), 0.6, 0.85, Lean.PAST),
    Row(rf"(?:my|our) {{booked}}{_GOT}(?: now| been| just|){{0,2}} {_CANCELLED}",
        "{whose} {booked} was cancelled", (), 0.6, 0.85),
    Row(rf"the {{event}}{_GOT}(?: now| been| just|){{0,2}} {_CANCELLED}",
        "The {event} was cancelled", (), 0.6, 0.8),
    Row(rf"(?:they|the [\w-]+)(?:'ve| have| has|) (?:just |){_CANCELLED} (?:my|our) {{booked}}{{end}}",
        "{whose} {booked} was cancelled", (), 0.6, 0.85),
    *_repair("(?:my|our)", "{whose} {device}"),
    *_repair("the", "The {device}"),
    Row(r"(?:my|our) {device}(?P<state>(?:'s| is) (?:broken|leaking|out of order|not working|dead)| broke"
        r"(?: down)?| (?:has |)(?:stopped working|broken down)| won't (?:start|turn on)| (?:doesn't|does not)"
        r" (?:work|start|turn on)){end}",
        "{whose} {device}{state}", (), 0.5, 0.8),
)  # fmt: skip
"""The rows for changes of state; they come before those of states."""
