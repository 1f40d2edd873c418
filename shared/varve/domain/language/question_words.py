"""A language's words of questions."""

from dataclasses import dataclass

from varve.domain.language.word_lists import Words


@dataclass(frozen=True, slots=True)
class Questions:
    """Patterns, in lower case, that tell what a question asks for.

    `asks_when` and `current` ask for a time and for the present. `opening` words, after a
    `greeting`, begin a question about the present if a word of `present` and none of `past` follows;
    `state_opening` begins one about a `state`. `happened` are words that ask for whatever
    there was, and the folded words `aimed` ask for one thing. `all_about` is followed by whom or what a
    text asks everything of.
    `relative_times` are words of a time relative to the present. `time_marks` are words of any text
    that show a time; `{unit}` in them stands for the `time_units` of all languages. `asking` words
    begin a clause that asks. In folded text, `offering` words ask whether there is more to do,
    an answer that begins with `answering` words needs its question, and one with a `stating`
    word does not; `recalling` asks for the assistant's words, but not after `recalling_time`.
    An agent's phrase names its user by `of_user`; the user says one of `my` for that, at the
    beginning, and the first of them is a word.
    """

    asking: Words = ()
    asks_when: Words = ()
    current: Words = ()
    greeting: Words = ()
    opening: Words = ()
    present: Words = ()
    past: Words = ()
    state_opening: Words = ()
    state: Words = ()
    happened: Words = ()
    aimed: Words = ()
    all_about: Words = ()
    relative_times: Words = ()
    time_marks: Words = ()
    time_units: Words = ()
    offering: Words = ()
    answering: Words = ()
    stating: Words = ()
    recalling: Words = ()
    recalling_time: Words = ()
    of_user: Words = ()
    my: Words = ()
