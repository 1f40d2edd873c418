"""What confirms a statement in other words."""

import pytest

from varve.domain.statements.pairs.confirming import confirms_in_words


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I drink oat milk.", "Yes, still oat milk."),
        ("My landlord is Mr. Peters.", "My landlord is still Mr. Peters."),
        ("I take the bus to work.", "I take the bus to work, as always."),
        ("Mi casero es Paco.", "Mi casero sigue siendo Paco."),
        ("Tomo café.", "Todavía tomo café."),
        ("Vivo en Cádiz.", "Sigo viviendo en Cádiz."),
        ("Mi coche es un Seat Ibiza.", "Sigo con el Ibiza."),
        ("I live in Madrid.", "Yes, I'm still in Madrid."),
        ("I live in Madrid.", "Like I've already told you, I live in Madrid."),
        ("I live in Madrid.", "As I said before, I live in Madrid."),
        ("I live in Madrid.", "I've already mentioned I live in Madrid."),
        ("Vivo en León.", "Ya te he dicho que vivo en León."),
        ("Vivo en León.", "Como te comenté, vivo en León."),
    ],
)
def test_a_text_confirms_what_it_says_goes_on(
    earlier: str, later: str
) -> None:
    assert confirms_in_words(earlier, later)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I drink oat milk.", "Do you still drink oat milk?"),
        ("I drink oat milk.", "I still haven't tried oat milk."),
        ("I drink oat milk.", "Still no oat milk for me."),
        ("I take the bus to work.", "I still have to take the bus to work."),
        ("The rent is 900 euros.", "The rent is still 950 euros."),
        ("My sister lives in Ghent.", "I still live in Ghent."),
        ("I quit smoking.", "I still smoke."),
        ("I drink oat milk.", "Oat milk."),
        ("I live in Madrid.", "As I said, I moved to Oslo."),
        ("Vivo en León.", "Ya te dije que vivo en Roma."),
        ("Vivo en León.", "¿Ya te dije que vivo en León?"),
        ("I drink oat milk.", "Yes, still."),
        ("Vivo en Cádiz.", "Sigo pensando en Cádiz."),
        ("Tomo café.", "Todavía no tomo café."),
        ("Bebo leche.", "Sigo bebiendo vino."),
        ("Mi coche es un Seat Ibiza.", "Sigo con el Panda."),
        ("Mi coche es un Seat Ibiza.", "Ella sigue con el Ibiza."),
    ],
)
def test_a_look_alike_confirms_nothing(earlier: str, later: str) -> None:
    assert not confirms_in_words(earlier, later)
