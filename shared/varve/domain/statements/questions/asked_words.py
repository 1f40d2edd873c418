"""The words and names of a question, as far as the statements found have them.

"When is Nora's birthday?" is answered by no statement about Leo's, however like it is.
"""

from collections.abc import Collection, Iterable
from functools import cache
from itertools import pairwise

from varve.domain.language.languages import gathered, installed_languages
from varve.domain.language.stems import stem_all
from varve.domain.statements.pairs.corrected_values import corrects_value
from varve.domain.statements.pairs.other_matters import (
    BESIDE_ALL,
    have_other_topics,
    list_own_topics,
)
from varve.domain.statements.pairs.other_things import is_of_other_place
from varve.domain.statements.pairs.superseding import relate, share_words
from varve.domain.statements.texts.cues import Cues, read_cues
from varve.domain.statements.texts.particulars import (
    TellingWord,
    collect_stems,
    count_shared,
    list_any_matter,
)

THING_WORDS = 2
"""So many words of a question name a thing: "alarm code"."""
MOST_OF_WORDS = 0.6
"""So great a share of a question's words are most of them."""


class AskedWords:
    """What the statements found share with a question.

    `found` are the cues of all of them. `speakers` are the folded words of the speakers'
    names: a question in the third person names whom it asks about so, and statements of
    their own do not. `size` counts the question's telling words, at least 1, and `most` those
    of the statement that has most of them.
    """

    def __init__(
        self,
        question: Cues,
        found: Iterable[Cues] = (),
        speakers: Collection[str] = (),
    ) -> None:
        self._question = question
        self._words = _collect_words(question)
        self._relatives = _collect_relatives(question)
        told = list(dict.fromkeys(found))
        self.most = max((self.count(one) for one in told), default=0)
        self.size = max(1, len(question.particulars.telling))
        self._of_thing = self._list_topics_of_thing(told)
        self._related = [one for one in told if relate(question, one)]
        speaking = stem_all(speakers)
        names_speaker = not speaking.isdisjoint(self._words)
        self._asks_speaker = names_speaker and not self._relatives
        asked = self._collect_asked(told) - speaking
        is_told = any(asked & _collect_words(one) for one in told)
        self._names = asked if is_told else set[str]()
        self._kin = asked | self._find_kin(told)

    def _list_topics_of_thing(self, found: Iterable[Cues]) -> set[str]:
        """Return the topics that words of the thing asked for have alone.

        The thing is what the text with most words of the question shares with it.
        """
        most = [one for one in found if self.count(one) == self.most]
        told = set[str]().union(*map(_collect_words, most))
        words = sorted(self._words & told)
        return set[str]().union(*(read_cues(word).topics for word in words))

    def _collect_asked(self, found: Iterable[Cues]) -> set[str]:
        """Return the stems of the names and relatives that the question asks about.

        Of a question without capitals, the words that are names in what was found: those
        of "Oak School" are none beside "Eva".
        """
        telling = self._question.particulars.telling
        named = collect_stems(word for word in telling if word.named)
        if named:
            return named | self._relatives
        known: set[str] = set()
        for one in found:
            known |= collect_stems(_list_names(one))
        return (self._words & known) | self._relatives

    def _find_kin(self, found: Iterable[Cues]) -> set[str]:
        """Return the names that stand beside the relatives asked about: "my sister Laura"."""
        relatives = self._relatives
        kin: set[str] = set()
        for one in found:
            for word, following in pairwise(one.particulars.telling):
                if word.stems & relatives and following.named:
                    kin |= following.stems
                if following.stems & relatives and word.named:
                    kin |= word.stems
        return kin

    def count(self, told: Cues) -> int:
        """Return how many telling words of the question a text has."""
        return count_shared(self._question.particulars, told.particulars)

    def has_fewer(self, told: Cues) -> bool:
        """Return whether a text has fewer words of the question than another one found."""
        return self.count(told) < self.most

    def is_beside(self, text: str) -> bool:
        """Return whether a text has to do with the question less than another one found.

        It has nothing to do with it, or is of another place: "The wifi password at home is …"
        for who asks for the one at the office.
        """
        told = read_cues(text)
        gives_value = bool(self._related) and corrects_value(told)
        is_less = self.has_fewer(told) and not _corrects_alone(told)
        if not (gives_value or is_less):
            return False
        if not relate(self._question, told):
            return True
        return is_less and is_of_other_place(text, frozenset(self._words))

    def _lacks_thing(self, told: Cues) -> bool:
        """Return whether a text has a passing topic of the thing asked for, and not the thing.

        Who asks for the alarm code is not told of what is on Mondays, if something found
        tells of an alarm code.
        """
        asked = self._question
        if self.most < THING_WORDS or self.count(told):
            return False
        if told.tells_change and not have_other_topics(asked, told):
            return False
        numbers = set(asked.particulars.numbers)
        if not numbers.isdisjoint(told.particulars.numbers):
            return False
        shared = asked.topics & told.topics
        return bool(shared) and shared <= BESIDE_ALL & self._of_thing

    def is_of_other_topics(self, told: Cues) -> bool:
        """Return whether a text tells of other topics than what relates to the question.

        Who asks "what do I have for breakfast?" is not told of a bicycle, if something
        found tells of breakfast. Topics that go with all others show nothing.
        """
        if not self._related or told.has("correcting"):
            return False
        if self._lacks_thing(told):
            return True
        if not (list_own_topics(self._question) and list_own_topics(told)):
            return False
        every = (self._question, *self._related)
        return not any(relate(one, told) for one in every)

    def is_of_other_matter(self, told: Cues) -> bool:
        """Return whether a text tells of another matter than the question, as its topics show.

        Something found is of the question's, and the text may be of that one's other topics:
        "I'm training for a marathon" beside "I sold the car, I cycle everywhere now".
        """
        if not self._related or told.has("correcting"):
            return False
        if share_words(self._question, told):
            return False
        return have_other_topics(self._question, told)

    @property
    def finds_most(self) -> bool:
        """Whether something found has most of the question's telling words, and several."""
        return self.most >= max(THING_WORDS, MOST_OF_WORDS * self.size)

    @property
    def finds_related(self) -> bool:
        """Whether something found has a topic or telling word of the question."""
        return bool(self._related)

    @property
    def names_another(self) -> bool:
        """Whether the question asks about another person or thing that something found names.

        "Does Ana live in Utrecht?" asks about the speaker, if that is Ana.
        """
        if self._question.has("own") or self._asks_speaker:
            return False
        return bool(self._names)

    def is_of_another(self, told: Cues) -> bool:
        """Return whether a text tells of another than the one whom the question names.

        Asked for the speaker's flight to Oslo, one to Rome is another; "I'm at Initech now"
        tells no other thing to who asks about the work at Globex.
        """
        if not self._lacks_name(told) or told.has("correcting"):
            return False
        if self.names_another:
            return True
        is_alike = told.tells_name and self.count(told) > 0
        return is_alike and not told.tells_change

    def leaves_thing(self, before: Cues, after: Cues) -> bool:
        """Return whether the question names what the earlier text tells, and the later not.

        "I take 20 mg of atorvastatin" may leave the ramipril as it is, "10 mg since May"
        may not.
        """
        asked = self._words & _collect_words(before)
        return not asked - _collect_words(after) <= list_any_matter()

    def tells_new_thing(self, before: Cues, after: Cues) -> bool:
        """Return whether the later text has a word that neither question nor earlier one has."""
        known = self._words | _collect_words(before)
        return not _collect_words(after) - known <= list_any_matter()

    def share_matter(self, before: Cues, after: Cues) -> bool:
        """Return whether two texts share a topic, or a word beside the names asked about."""
        if before.topics & after.topics:
            return True
        shared = _collect_words(before) & _collect_words(after)
        return bool(shared - self._kin)

    def _lacks_name(self, told: Cues) -> bool:
        return bool(self._names) and not self._kin & _collect_words(told)


def _corrects_alone(told: Cues) -> bool:
    """Return whether a text corrects without a topic of its own: "sorry, I meant Porto"."""
    if not told.has("correcting") or corrects_value(told):
        return False
    return not told.topics - BESIDE_ALL


def _collect_relatives(question: Cues) -> set[str]:
    """Return the stems of the relatives that a question names: "my sister".

    "My mum" is told of who asks for "my mother".
    """
    found: set[str] = set()
    for person in question.persons:
        if _is_own_relative(person):
            word = person.split()[-1].removesuffix("'s")
            found |= _stems_of_relation().get(word, stem_all([word]))
    return found


@cache
def _stems_of_relation() -> dict[str, frozenset[str]]:
    """Return for each word of a relation the stems of all its words, in all languages.

    Those of another relation are left out: "hermana" and "hermano" have one in common.
    """
    tables = (language.relatives for language in installed_languages())
    every = [frozenset(one) for one in gathered(tables).values()]
    found: dict[str, frozenset[str]] = {}
    for relation in every:
        others = frozenset[str]().union(*every) - relation
        own = stem_all(relation) - stem_all(others)
        found.update(dict.fromkeys(relation, own))
    return found


def _is_own_relative(person: str) -> bool:
    """Return whether words name somebody as the speaker's: "my sister", not "the client"."""
    first, *rest = person.split()
    return bool(rest) and read_cues(first).has("own")


def _list_names(told: Cues) -> list[TellingWord]:
    return [word for word in told.particulars.telling[1:] if word.named]


def _collect_words(told: Cues) -> set[str]:
    return collect_stems(told.particulars.telling)
