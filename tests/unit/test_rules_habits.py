"""What the rules read of habits, devices, pets and births that later words end."""

import pytest

from tests.unit.test_rules import batch, changes, extract
from varve.domain.rules import RuleExtractor


def list_ends(text: str) -> list[str]:
    """Return the ends that count only if the graph has their value."""
    found = RuleExtractor().extract(batch(text))
    return [f"{one.predicate} {one.object}".strip() for one in found.if_known]


STATES = [
    ("I drink coffee every morning.", "ADD Dana drinks coffee"),
    ("I usually drink green tea.", "ADD Dana drinks green tea"),
    ("I use an Android phone.", "ADD Dana uses_phone Android phone"),
    ("I have an iPhone.", "ADD Dana uses_phone iPhone"),
    ("I use Firefox.", "ADD Dana uses_browser Firefox"),
    ("I'm pregnant, due in October.", "ADD Dana expecting a baby"),
    ("I'm five months pregnant!", "ADD Dana expecting a baby"),
    ("We're expecting our first baby in May.", "ADD Dana expecting a baby"),
    ("Tomo café por las mañanas.", "ADD Dana drinks café"),
    ("Uso un móvil Android.", "ADD Dana uses_phone móvil Android"),
    ("Estoy embarazada, salgo de cuentas en octubre.", "ADD Dana expecting a baby"),
    ("Esperamos un bebé.", "ADD Dana expecting a baby"),
]  # fmt: skip
SWITCHES = [
    ("I switched to tea.", "drinks", "ADD Dana drinks tea"),
    ("I've switched from coffee to green tea.", "drinks", "ADD Dana drinks green tea"),
    ("I switched to an iPhone.", "uses_phone", "ADD Dana uses_phone iPhone"),
    ("I just changed to a Pixel 9 last week.", "uses_phone", "ADD Dana uses_phone Pixel 9"),
    ("We use Slack, but I moved from Chrome to Firefox.", "uses_browser", "ADD Dana uses_browser Firefox"),
    ("I switched to Linux.", "uses_computer", "ADD Dana uses_computer Linux"),
    ("Me he pasado al té.", "drinks", "ADD Dana drinks té"),
    ("He cambiado el café por el té verde.", "drinks", "ADD Dana drinks té verde"),
    ("Me he cambiado a un iPhone.", "uses_phone", "ADD Dana uses_phone iPhone"),
]  # fmt: skip
ENDS = [
    ("I quit coffee.", "drinks coffee"),
    ("I no longer drink coffee.", "drinks coffee"),
    ("I don't drink coffee any more.", "drinks coffee"),
    ("Miso passed away last night.", "has_pet Miso"),
    ("Sadly, Miso died.", "has_pet Miso"),
    ("We had to put Miso down.", "has_pet Miso"),
    ("We lost Miso this morning.", "has_pet Miso"),
    ("The baby is here!", "expecting"),
    ("Our baby girl was born last night.", "expecting"),
    ("I gave birth yesterday.", "expecting"),
    ("Leo was born this morning!", "expecting"),
    ("I had a miscarriage.", "expecting"),
    ("Ya no tomo café.", "drinks café"),
    ("Miso murió anoche.", "has_pet Miso"),
    ("Se nos ha muerto Miso.", "has_pet Miso"),
    ("¡Ya ha nacido el bebé!", "expecting"),
    ("La niña ya está aquí.", "expecting"),
    ("He dado a luz esta mañana.", "expecting"),
]  # fmt: skip
SILENT = [
    "My sister drinks coffee every morning.", "My brother switched to an iPhone.", "My sister is pregnant.",
    "I almost switched to tea.", "I'm thinking about switching to an iPhone.", "I might switch to Linux.",
    "Should I switch to tea?", "If I switched to tea, I'd sleep.", "I switched to a tea towel.",
    "I switched to the night shift.", "I switched to chapter three.", "I went to Linux class.",
    "My phone died.", "My cousin Rex died.",
    "The battery died.", "The baby is here for the weekend.", "The baby is hungry.",
    "My sister's baby is here.",
    "Is the baby here?", "Leo was born in 1990.", "I was born last century.", "I have a coffee machine.",
    "I'm pregnant with meaning.", "I'm expecting a parcel.", "I have an Android app to publish.",
    "Mi hermana está embarazada.", "Mi hermana toma café.", "Casi me paso al té.", "¿Me paso al té?",
    "Si me paso al té, dormiré mejor.", "El bebé de mi hermana ya está aquí.", "Esperamos un paquete.",
    "Se murió la batería.", "Me he pasado a verte.", "Tomo el metro.", "Tengo un café pendiente con Ana.",
]  # fmt: skip


@pytest.mark.parametrize(("text", "change"), STATES)
def test_a_habit_or_state_that_may_end_is_a_triple(
    text: str, change: str
) -> None:
    assert changes(extract(text)) == [change]
    assert list_ends(text) == []


@pytest.mark.parametrize(("text", "ended", "change"), SWITCHES)
def test_a_switch_ends_the_habit_before(
    text: str, ended: str, change: str
) -> None:
    assert changes(extract(text)) == [change]
    assert list_ends(text) == [ended]


@pytest.mark.parametrize(("text", "ended"), ENDS)
def test_an_end_is_read_without_the_words_of_its_beginning(
    text: str, ended: str
) -> None:
    assert list_ends(text) == [ended]
    assert changes(extract(text)) == []


@pytest.mark.parametrize("text", SILENT)
def test_a_look_alike_changes_nothing(text: str) -> None:
    assert (changes(extract(text)), list_ends(text)) == ([], [])
