"""A context of a user whose words have expired, of whom memory has summaries alone."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from tests.support.statements import expire

LATER = datetime(2026, 9, 25, 10, tzinfo=UTC)
INTERVIEWS = (
    "My interview at Nordbank is on the 14th.",
    "My interview at Lumio is on the 16th.",
    "My CV is in the Dropbox folder.",
    "My notice period is two months.",
    "I want at least 60k.",
    "My recruiter is called Vanessa.",
    "Lumio wants me on the 21st instead.",
    "My flatmate starts a new job on the 14th.",
)
POOL = (
    "Tengo un canario, Caruso, que canta desde las seis.",
    "Mi hija Nuria está en Berlín, es arquitecta.",
    "El 20 de mayo me operan de cataratas del ojo derecho.",
    "Perdona, que lo de la operación es en el izquierdo, que me lío.",
    "Amparo se ha echado novio a los setenta y dos, figúrate.",
    "Como estoy recién operada no puedo meterme en el agua en un mes.",
    "La Toñi se ha jubilado; ahora me lo hace Vanesa, una chica muy apañada.",
    "Ya me deja el oculista volver a la piscina, hoy he ido tan contenta.",
    "El médico me ha quitado el Sintrom y me ha puesto Eliquis, sin análisis ni nada.",
    "Si me tocara la Primitiva me iba con Nuria a Alemania todo el verano.",
    "Se me escapó Caruso por la ventana y no ha vuelto, qué disgusto.",
    "Anoche se fue la luz en toda la finca y cené con velas.",
    "Por fin me he cambiado a un bajo en Benimaclet, se acabaron las escaleras.",
)


def test_a_summary_that_another_one_supersedes_is_no_candidate(
    tmp_path: Path,
) -> None:
    memory = expire(tmp_path, POOL, LATER)

    block = memory.context(
        "¿Puedo bañarme en la piscina?", user_id="u-1", now=LATER
    )

    assert block.searched.records


def test_a_summary_that_changes_its_own_statement_tells_what_holds(
    tmp_path: Path,
) -> None:
    memory = expire(tmp_path, INTERVIEWS, LATER)

    block = memory.context(
        "When is my interview at Lumio?", user_id="u-1", now=LATER
    )

    assert "Lumio wants me on the 21st instead." in block.text
    assert "16th" not in block.text
