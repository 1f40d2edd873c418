"""A language's words of requests to forget."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForgettingWords:
    """Patterns, in folded text, of requests to forget, and of what they name.

    A request begins with `polite` words, then one of `asks`, or one of `erases`, which also
    erase other things: there it names `memory` or a `personal` thing. So do `passives`, which
    have one of `erased` and name their group `body`. `told` follows it
    where everything about a thing is meant; `lead` says nothing; `ends` end what it names.
    A whole message of `about_persons` and given names means all that is told of them.
    `told_then` and some days mean what was told on these.
    One of `matters` ("the … thing") means everything about its group `matter`, a part of its
    group `of` if it has one, if only `trailing` words follow. What it names else:
    - the speaker `myself`, verb and all, or what is known `about_myself`, before `trailing`
      words that say nothing and not before what it `spares`;
    - a thing of one's `own`, as `asked_own` asks for it too, or a `part` `of_own`;
    - an `asked` clause, `where` of it with a `place` and `amount` with a figure;
    - what one `states`, or something `of_others` whom it names.

    What others say stands after one of `says` or before it, with a `recipient` at most, what
    a speaker says to others (`says_oneself`) is told by one of these as well, and
    what is to be written stands after one of `dictates`. A speaker `repeats` a request of
    their own, or makes it as others said (`as_told`).

    A statement is its speaker's own by a `subject`, by `own` or by `has`. `articles` and `joins`
    may stand between these and the thing, and `adverbs` right before a verb. A thing behind
    `theirs` of `[changes]` is another's; one behind a form of `being` is what a name stands for. What
    begins with a `dangling` word tells of the same as the words before. `naming` is
    followed by a name. Each of `same` lists words that mean one thing. `tells` are other
    words for what is named, by a word of the request. A language that `drops_subject` has
    the person in the verb, so that the verb must be in the same form.
    """

    polite: Words = ()
    asks: Words = ()
    erases: Words = ()
    erased: Words = ()
    passives: Words = ()
    about_persons: Words = ()
    told_then: Words = ()
    memory: Words = ()
    told: Words = ()
    matters: Words = ()
    says: Words = ()
    says_oneself: Words = ()
    recipients: Words = ()
    dictates: Words = ()
    repeats: Words = ()
    as_told: Words = ()
    lead: Words = ()
    ends: Words = ()
    myself: Words = ()
    about_myself: Words = ()
    trailing: Words = ()
    spares: Words = ()
    own: Words = ()
    of_own: Words = ()
    subject: Words = ()
    has: Words = ()
    asked: Words = ()
    asked_own: Words = ()
    states: Words = ()
    of_others: Words = ()
    place: Words = ()
    articles: Words = ()
    joins: Words = ()
    being: Words = ()
    adverbs: Words = ()
    dangling: Words = ()
    naming: Words = ()
    personal: Words = ()
    same: Words = ()
    tells: Mapping[str, Words] = field(default_factory=dict)
    drops_subject: bool = False
