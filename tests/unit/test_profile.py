"""Profiles: what a user says of themselves, folded so that no order, batching or repetition matters."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import ACME, MORNING, an_operation
from tests.unit.test_told_last import NOW, talk
from varve import Memory
from varve.adapters.in_memory import InMemoryObjects
from varve.adapters.json_profiles import JsonProfiles
from varve.domain.current_profile import select_current_entries
from varve.domain.errors import Rejected
from varve.domain.extraction import Utterance
from varve.domain.profile import (
    KEY_OF_PREDICATE,
    KNOWN_KEYS,
    LIST_KEYS,
    MAX_VALUE_CHARACTERS,
    ProfileEntry,
    build_entries,
    entry_as_json,
    entry_from_json,
    merge_entries,
    profile_key,
    profile_value,
    sort_entries,
)
from varve.domain.profile_lists import split_values
from varve.domain.triple import Op

LATER = MORNING + timedelta(days=1_000)


def entry(
    key: str = "location", value: str = "Lisbon", day: int = 0, **given: object
) -> ProfileEntry:
    at = MORNING + timedelta(days=day)
    made = ProfileEntry(
        "u-42", key, value, at, at, "c-1", (f"m{day}",), "Dana"
    )
    return replace(made, **given)  # type: ignore[arg-type]


def held(
    *entries: ProfileEntry, now: datetime = LATER
) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for one in select_current_entries(entries, now):
        values.setdefault(one.key, []).append(one.value)
    return values


ENTRIES = st.lists(
    st.builds(
        entry,
        key=st.sampled_from(["location", "allergies", "role"]),
        value=st.sampled_from(["", "Lisbon", "lisbon ", "Porto", "nuts"]),
        day=st.integers(0, 4),
        ends=st.booleans(),
        replaces=st.sampled_from(["", "Porto", "nuts"]),
        created_at=st.sampled_from([MORNING, LATER]),
    ),
    max_size=12,
)


class TestFolding:
    def test_the_newest_answer_stands_and_the_older_ones_are_history(
        self,
    ) -> None:
        told = [
            entry(value="Leeds"),
            entry(value="Lisbon", day=10),
            entry(value="Porto", day=5),
        ]
        assert held(*told) == {"location": ["Lisbon"]}
        assert [one.value for one in sort_entries(told)] == [
            "Leeds",
            "Porto",
            "Lisbon",
        ]

    def test_lists_gather_their_values_and_lose_the_one_that_is_replaced(
        self,
    ) -> None:
        told = [entry("allergies", "nuts"), entry("allergies", "latex", 1)]
        assert held(*told) == {"allergies": ["nuts", "latex"]}
        assert held(*told, entry("allergies", "soy", 2, replaces="Nuts")) == {
            "allergies": ["latex", "soy"]
        }

    def test_singular_and_plural_are_one_value_in_the_last_words(self) -> None:
        told = [entry("allergies", "tree nuts"), entry("allergies", "latex")]
        again = entry("allergies", "tree nut", 2)
        assert held(*told, again) == {"allergies": ["latex", "tree nut"]}
        other = entry("allergies", "nuts", 3)
        assert "nuts" in held(*told, again, other)["allergies"]

    def test_a_diet_and_a_condition_both_hold(self) -> None:
        told = [entry("diet", "vegan"), entry("conditions", "diabetes", 1)]
        assert held(*told) == {"diet": ["vegan"], "conditions": ["diabetes"]}

    def test_an_ending_takes_the_value_it_names_or_all(self) -> None:
        told = [
            entry("allergies", "nuts"),
            entry("allergies", "latex", 1),
            entry(value="Lisbon"),
        ]
        assert held(*told, entry("allergies", "NUTS", 2, ends=True))[
            "allergies"
        ] == ["latex"]
        assert "allergies" not in held(
            *told, entry("allergies", "", 2, ends=True)
        )
        assert held(*told, entry(value="Porto", day=3, ends=True))[
            "location"
        ] == ["Lisbon"]

    def test_a_single_value_also_ends_by_its_longer_or_shorter_form(
        self,
    ) -> None:
        for known, ended in (("Acme", "Acme Ltd."), ("ACME Ltd", "Acme")):
            told = entry("employer", known, 0)
            assert "employer" not in held(
                told, entry("employer", ended, 1, ends=True)
            )
            assert held(told, entry("employer", "Acmeson", 1, ends=True))[
                "employer"
            ] == [known]
        lists = (
            entry("preferences", "tea", 0),
            entry("preferences", "tea with milk", 1, ends=True),
        )
        assert held(*lists)["preferences"] == ["tea"]

    def test_what_is_said_again_holds_since_the_first_time(self) -> None:
        (one,) = select_current_entries(
            [entry(), entry(value="lisbon", day=3)], LATER
        )
        assert one == entry()

    def test_what_begins_later_does_not_hold_yet(self) -> None:
        told = [entry(value="Leeds"), entry(value="Lisbon", day=10)]
        assert held(*told, now=MORNING + timedelta(days=9)) == {
            "location": ["Leeds"]
        }

    def test_known_keys_come_first_in_their_order_then_the_others_by_name(
        self,
    ) -> None:
        told = [entry("zoo"), entry("employer"), entry("art"), entry("name")]
        assert list(held(*told)) == ["name", "employer", "art", "zoo"]

    @given(ENTRIES, st.randoms(), st.integers(1, 5))
    def test_invariant_2_any_order_batching_and_repetition_gives_the_same_bytes(
        self, told: list[ProfileEntry], random: object, size: int
    ) -> None:
        shuffled = sorted(
            [*told, *told[: len(told) // 2]], key=lambda _: random.random()
        )  # type: ignore[attr-defined]
        once, often = InMemoryObjects(), InMemoryObjects()
        JsonProfiles(once).apply(ACME, "u-42", told)
        batches = iter(shuffled)
        while batch := list(islice(batches, size)):
            JsonProfiles(often).apply(ACME, "u-42", batch)
        (key,) = [info.key for info in once.list("profiles")] or [None]
        assert [info.key for info in often.list("profiles")] == (
            [key] if key else []
        )
        if key:
            assert once.get(key) == often.get(key)

    @given(ENTRIES, ENTRIES)
    def test_merging_forgets_nothing_and_knows_no_order(
        self, one: list[ProfileEntry], other: list[ProfileEntry]
    ) -> None:
        assert (
            merge_entries(one, other)
            == merge_entries(other, one)
            == merge_entries(merge_entries(other).values(), one, one)
        )
        assert merge_entries(one).keys() <= merge_entries(one, other).keys()

    @given(ENTRIES)
    def test_a_single_valued_key_has_one_value_at_most(
        self, told: list[ProfileEntry]
    ) -> None:
        for key, values in held(*told).items():
            assert key in LIST_KEYS or len(values) == 1

    @given(ENTRIES)
    def test_json_and_back(self, told: list[ProfileEntry]) -> None:
        assert [entry_from_json(entry_as_json(one)) for one in told] == told


class TestStated:
    DANA = Utterance(
        "m0", "user", "Dana", "I live in Lisbon.", MORNING, "u-42"
    )
    ASSISTANT = Utterance(
        "m1", "assistant", "Dana", "You live in Rome.", MORNING, "u-42"
    )

    def test_a_triple_about_the_speaker_is_an_attribute_with_its_evidence(
        self,
    ) -> None:
        (one,) = build_entries(
            [
                an_operation(
                    "Lisbon", op=Op.UPDATE, replaces="Leeds", user_id="u-42"
                )
            ],
            [self.DANA],
        )
        assert one == ProfileEntry(
            "u-42",
            "location",
            "Lisbon",
            MORNING,
            MORNING,
            "c-1",
            ("m0",),
            "Dana",
            replaces="Leeds",
        )

    def test_what_is_said_of_others_or_by_others_is_not(self) -> None:
        hers = an_operation(subject="Hannah")
        assistants = an_operation(message_ids=("m1",))
        likes = an_operation("sushi", "likes")
        assert (
            build_entries(
                [hers, assistants, likes], [self.DANA, self.ASSISTANT]
            )
            == []
        )

    def test_a_conversation_without_a_user_belongs_to_the_default_one(
        self,
    ) -> None:
        nobody = replace(self.DANA, user_id=None, speaker="User")
        (one,) = build_entries([an_operation(subject="User")], [nobody])
        assert one.user_id == "default"

    def test_an_ending_ends(self) -> None:
        (one,) = build_entries([an_operation("", op=Op.DELETE)], [self.DANA])
        assert (one.ends, one.value) == (True, "")

    def test_a_value_that_is_no_value_is_left_out(self) -> None:
        long = an_operation("x" * (MAX_VALUE_CHARACTERS + 1))
        assert build_entries([long, an_operation("\x00")], [self.DANA]) == []

    def test_a_told_number_stands_only_in_place_of_one_set_by_hand(
        self,
    ) -> None:
        told = an_operation("555 0199", "phone", op=Op.UPDATE)
        (number,) = build_entries([told], [self.DANA])
        assert held(number) == {}
        day = timedelta(days=1)
        for at, current in ((-day, "555 0199"), (day, "555 0100")):
            own = replace(
                number,
                value="555 0100",
                event_time=MORNING + at,
                conversation_id=None,
            )
            assert held(number, own) == {"phone": [current]}

    def test_every_predicate_leads_to_a_known_key(self) -> None:
        assert set(KEY_OF_PREDICATE.values()) == set(KNOWN_KEYS)


class TestByHand:
    @pytest.mark.parametrize(
        "key", ["", "Name", "1st", "a-b", "../x", "a" * 41, "é", "a b"]
    )
    def test_a_key_of_another_form_is_refused(self, key: str) -> None:
        with pytest.raises(Rejected, match="key"):
            profile_key(key)

    @pytest.mark.parametrize("value", ["x" * 301, "\x1b[31m", "a\u202eb"])
    def test_a_value_that_cannot_be_shown_is_refused(self, value: str) -> None:
        with pytest.raises(Rejected, match="value"):
            profile_value(value)

    def test_a_value_is_one_line(self) -> None:
        assert profile_value("  short\n answers ") == "short answers"
        assert profile_key("coffee_order") == "coffee_order"


def test_a_users_path_holds_nothing_of_the_id() -> None:
    objects = InMemoryObjects()
    JsonProfiles(objects).apply(ACME, "auth0|42", [entry(user_id="auth0|42")])
    (info,) = objects.list("profiles")
    assert info.key.startswith("profiles/acme/support/")
    assert "42" not in info.key.rpartition("/")[2] or "auth0" not in info.key
    with pytest.raises(Rejected):
        JsonProfiles(objects).entries(ACME, "../x")


def test_times_are_utc() -> None:
    assert entry_from_json(entry_as_json(entry())).event_time.tzinfo is UTC


def test_a_stored_statement_with_a_lone_surrogate_is_refused() -> None:
    value = {
        "userId": "\ud800",
        "key": "location",
        "value": "Porto",
        "eventTime": "2026-03-02T09:15:00Z",
        "createdAt": "2026-03-02T09:15:00Z",
        "conversationId": "c-1",
        "messageIds": ["m1"],
        "subject": "Dana",
        "ends": False,
        "replaces": "",
    }
    with pytest.raises(ValueError, match="surrogates not allowed"):
        entry_from_json(value)


@pytest.mark.parametrize(
    ("key", "line", "values"),
    [
        ("allergies", "bees, kiwi", ["bees", "kiwi"]),
        ("allergies", "bees,kiwi; nuts, and milk", ["bees", "kiwi", "nuts", "milk"]),
        ("allergies", "nuts (almonds, walnuts and pecans), milk",
         ["nuts (almonds, walnuts and pecans)", "milk"]),
        ("allergies", "el huevo y los frutos secos", ["huevo", "frutos secos"]),
        ("allergies", "bees, Bees", ["bees"]),
        ("allergies", ", ,", [", ,"]),
        ("allergies", "", [""]),
        ("cannot_eat", "E 1,5", ["E 1,5"]),
        ("languages", "English and Spanish", ["English", "Spanish"]),
        ("languages", "español e inglés", ["español", "inglés"]),
        ("preferences", "short answers, no emoji", ["short answers", "no emoji"]),
        ("preferences", "black and white films", ["black and white films"]),
        ("diet", "vegan, no nuts", ["vegan, no nuts"]),
        ("address", "12 Hill Road, Leeds", ["12 Hill Road, Leeds"]),
    ],
)  # fmt: skip
def test_a_line_sets_several_values_of_a_list_alone(
    key: str, line: str, values: list[str]
) -> None:
    assert split_values(key, line) == values


@pytest.mark.parametrize("key", ["occupation", "job", "role", "works_as"])
def test_an_attribute_set_by_another_name_of_it_takes_its_place(
    tmp_path: Path, key: str
) -> None:
    memory = Memory.open(tmp_path / "memory", now=NOW)
    memory.ingest(talk(1, "I work as a nurse."))
    memory.set_profile(key, "baker", user_id="u-1")
    shown = memory.profile(user_id="u-1")["attributes"]
    assert [(one["key"], one["value"]) for one in shown] == [("role", "baker")]


def test_an_attribute_kept_by_another_name_of_it_is_one_with_it() -> None:
    kept = entry_as_json(entry("role", "nurse")) | {"key": "occupation"}
    told = entry("role", "baker", day=1)
    assert held(entry_from_json(kept), told) == {"role": ["baker"]}
