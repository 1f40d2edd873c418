"""Relevance with a zero, names in a prompt, and texts that say the same."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import MORNING, WordEmbedder, an_operation
from varve.domain.mention import in_words, mentioned
from varve.domain.relevance import relevances, telling_stems, word_shares
from varve.domain.triple import Op, fold

GRAPH = fold(
    [
        an_operation("Porto", op=Op.UPDATE),
        an_operation("Dana Whitfield", "name"),
        an_operation("São Luís Café", "likes", subject="Marco"),
        an_operation("Leeds", day=1, op=Op.UPDATE, subject="Hannah"),
        an_operation("it", "likes", subject="User"),
    ]
)


class TestWords:
    def test_function_words_and_courtesies_mean_nothing(self) -> None:
        assert telling_stems(
            "Hello, thanks! What is that? Hola, ¿qué tal... gracias"
        ) == {"tal"}

    def test_forms_of_a_word_are_one_and_codes_stay_whole(self) -> None:
        assert telling_stems("allergies") == telling_stems("allergy")
        assert telling_stems("Dana's ticket NW-53977") == {
            "dana",
            "ticket",
            "nw-53977",
        }

    def test_rare_words_count_for_more(self) -> None:
        texts = ["dana likes tea", "dana has a boiler", "dana sings"]
        boiler, dana = (
            word_shares("dana boiler", texts)[1],
            word_shares("dana boiler", texts)[0],
        )
        assert boiler == pytest.approx(1.0)
        assert dana < 0.5

    @given(st.text(), st.lists(st.text(), max_size=5))
    def test_shares_lie_between_nothing_and_all(
        self, prompt: str, texts: list[str]
    ) -> None:
        assert all(
            0.0 <= share <= 1.0 + 1e-9 for share in word_shares(prompt, texts)
        )

    def test_a_text_like_the_prompt_is_above_zero_and_another_is_not(
        self,
    ) -> None:
        prompt, texts = "banging boiler", ["banging boiler", "tax form"]
        asked, *vectors = WordEmbedder().embed([prompt, *texts])
        nothing = WordEmbedder().embed(
            ["history of countries", "rules of games"]
        )
        alike, other = relevances(prompt, asked, texts, vectors, nothing)
        assert alike > 0.5 > other


class TestNames:
    @pytest.mark.parametrize(
        ("prompt", "entities"),
        [
            ("Plan DANA's trip", {"dana"}),
            ("Plan Dana’s trip to Porto.", {"dana", "porto"}),
            ("a card for Dana Whitfield", {"dana", "dana whitfield"}),
            ("Danae and Portobello", set()),
            ("book a table at são luís café!", {"são luís café"}),
            ("user: do it", set()),
            ("", set()),
        ],
    )
    def test_a_prompt_names_entities_by_name_and_alias(
        self, prompt: str, entities: set[str]
    ) -> None:
        assert mentioned(prompt, GRAPH) == entities

    def test_a_models_names_are_looked_up_as_the_prompts_own_are(self) -> None:
        assert mentioned("my sister", GRAPH, ["Hannah", "Nobody"]) == {
            "hannah"
        }

    def test_only_what_holds_is_current(self) -> None:
        moves = fold(
            [
                an_operation("Porto", op=Op.UPDATE),
                an_operation("Faro", op=Op.UPDATE, day=2),
            ]
        )
        day = timedelta(days=1)
        assert [in_words(t) for t in moves if t.holds(MORNING + day)] == [
            "Dana lives in: Porto"
        ]
        assert [in_words(t) for t in moves if t.holds(MORNING + 3 * day)] == [
            "Dana lives in: Faro"
        ]
        assert not any(t.holds(MORNING - day) for t in moves)
