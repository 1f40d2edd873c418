"""The detectors find what the labelled texts hold, and leave the rest alone."""

import base64
import os
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import phonenumbers
import pytest

from tests.support.labelled import Labelled, labelled, mistakes, scores, secret
from varve.adapters.detectors.personal import PersonalDetector
from varve.adapters.detectors.secrets import SecretDetector
from varve.domain.allowance import MAX_PHONE_CHECKS
from varve.domain.errors import Misconfigured
from varve.domain.personal import (
    Detection,
    Kind,
    placeholder,
    replace_detections,
)

PERSONAL, SECRETS = PersonalDetector(("US", "GB", "ES")), SecretDetector()
SHARED = Path(__file__).parents[2] / "shared"
FLOOR = 0.95


def find(text: str) -> Sequence[Detection]:
    return [*SECRETS.find(text), *PERSONAL.find(text)]


def redacted(text: str) -> str:
    return replace_detections(
        text, find(text), lambda found: placeholder(found.kind)
    )


@pytest.fixture(scope="module")
def texts() -> list[Labelled]:
    return labelled()


def test_the_labelled_texts_are_many_and_hold_every_kind(
    texts: list[Labelled],
) -> None:
    assert len(texts) >= 400
    assert sum(not text.passages for text in texts) >= 200
    by_kind = scores(texts, find)
    assert {
        kind: score.passages >= 20 for kind, score in by_kind.items()
    } == dict.fromkeys(Kind, True)


@pytest.mark.parametrize("kind", Kind)
def test_precision_and_recall_stay_above_the_floor(
    texts: list[Labelled], kind: Kind
) -> None:
    score = scores(texts, find)[kind]
    faults = [line for line in mistakes(texts, find) if kind in line]
    assert score.recall >= FLOOR, faults
    assert score.precision >= FLOOR, faults


def test_the_texts_that_no_rule_was_fitted_on_are_found_as_well() -> None:
    by_kind = scores(labelled("apart"), find)
    assert sum(score.passages for score in by_kind.values()) >= 70
    found = sum(score.found for score in by_kind.values())
    wrong = sum(score.wrong for score in by_kind.values())
    assert found / sum(score.passages for score in by_kind.values()) >= FLOOR
    assert found / (found + wrong) >= FLOOR


@pytest.mark.parametrize(
    "separator",
    [
        "\u00a0",
        "\u202f",
        "\u2009",
        " ",
        "-",
        "\u2011",
        "\u2013",
        "\u2212",
        ".",
    ],
)
@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("card", "4111 1111 1111 1111"),
        ("iban", "GB29 NWBK 6016 1331 9268 19"),
        ("national-id", "536 22 1234"),
        ("phone", "415 555 2671"),
    ],
)
def test_a_number_is_found_with_any_separator_and_its_own_words_are_redacted(
    kind: str, parts: str, separator: str
) -> None:
    written = parts.replace(" ", separator)
    assert (
        redacted(f"SSN or phone … {written} … thanks")
        == f"SSN or phone … [{kind}] … thanks"
    )


def test_every_shape_of_a_token_has_a_page_and_a_keyword_of_its_pattern() -> (
    None
):
    path = SHARED / "varve" / "adapters" / "detectors" / "token_shapes.toml"
    shapes = tomllib.loads(path.read_text("utf-8"))["shape"]
    assert len(shapes) >= 70
    assert len({shape["name"] + shape["keyword"] for shape in shapes}) == len(
        shapes
    )
    for shape in shapes:
        assert shape["source"].startswith("https://"), shape["name"]
        plain = shape["pattern"].replace("\\", "").casefold()
        assert (
            shape["keyword"].casefold() in plain or shape["keyword"] in "._v1_"
        ), shape


def test_a_text_of_many_numbers_is_filtered_with_bounded_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked: list[str] = []
    matcher = phonenumbers.PhoneNumberMatcher

    def count(number: str, *given: Any) -> Any:
        checked.append(number)
        return matcher(number, *given)

    monkeypatch.setattr(phonenumbers, "PhoneNumberMatcher", count)
    numbers = [
        f"612 {n // 1000:03} {n % 1000:03}"
        for n in range(MAX_PHONE_CHECKS + 50)
    ]
    told = "".join(f"call {number}; " for number in numbers)
    once = redacted(told)
    assert not any(number in once for number in numbers)
    assert once == redacted(told)
    assert len(set(checked)) == MAX_PHONE_CHECKS


def test_filtering_a_redacted_text_again_changes_nothing(
    texts: list[Labelled],
) -> None:
    once = [redacted(text.text) for text in texts]
    assert [redacted(text) for text in once] == once


def test_a_secret_in_a_block_of_code_is_removed_completely() -> None:
    key = secret("pem")
    text = f"Here:\n```sh\nexport KEY='{secret('openai')}'\n{key}\n```\nDone."
    assert (
        redacted(text)
        == "Here:\n```sh\nexport KEY='[secret]'\n[secret]\n```\nDone."
    )


def test_a_token_that_holds_json_nested_too_deep_is_no_secret() -> None:
    head, nested = (
        base64.urlsafe_b64encode(part.encode()).decode().rstrip("=")
        for part in ('{"alg":"HS256"}', '{"a":' + "[" * 100_000)
    )
    assert SECRETS.find(f"see {head}.{nested}.abc") == []


@pytest.mark.parametrize(
    "words",
    [
        "The wifi password at home is {}",
        "La clave del wifi en casa es {}",
        "The wifi password at the office is {}.",
        "La contraseña del wifi de la oficina es {}.",
        "The wifi password has changed to {}",
        "La clave del wifi ha cambiado a {}",
        "I changed the wifi password to {}",
        "Cambié la clave del wifi a {}",
        "The password for the router is still {}",
        "La clave del router sigue siendo {}",
    ],
)
def test_a_password_of_a_place_and_a_new_one_are_found(words: str) -> None:
    password = "Blue-bird77"
    assert redacted(words.format(password)) == words.format("[secret]")


@pytest.mark.parametrize(
    "text",
    [
        "The password for server2 changed yesterday.",
        "I set the password reminder to 5 o'clock.",
        "Cambié la contraseña a las 10h30.",
        "I reset my password on 2024-05-01.",
        "I updated the secret santa list to v2.1.",
        "Set the token limit to 4096k.",
    ],
)
def test_what_only_tells_of_a_password_stays(text: str) -> None:
    assert redacted(text) == text


def test_a_private_key_without_an_end_is_removed_to_the_end_of_the_text() -> (
    None
):
    assert redacted("see " + secret("pem")[:200]) == "see [secret]"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("call +34 612 345 678", "mi móvil: 612 34 56 78"),
        ("Dana@Example.org", "dana [at] example [dot] org"),
        ("card 4111 1111 1111 1111", "card 4111-1111-1111-1111"),
        ("IBAN GB29 NWBK 6016 1331 9268 19", "iban=GB29NWBK60161331926819"),
        ("DNI 12345678Z", "dni 12.345.678-Z"),
        ("from 2001:db8::1", "from 2001:0db8:0:0:0:0:0:1"),
    ],
)
def test_one_value_in_two_spellings_is_one_value(one: str, other: str) -> None:
    assert {f.canonical for f in find(one)} == {
        f.canonical for f in find(other)
    }
    assert len(find(one)) == 1


def test_a_region_without_phones_is_misconfigured() -> None:
    with pytest.raises(Misconfigured, match="XX"):
        PersonalDetector(("XX",)).find("call 612 345 678")


IMPORTED = """
import sys
from varve.adapters.detectors.personal import PersonalDetector
from varve.adapters.detectors.secrets import SecretDetector
for detector in (PersonalDetector(("US", "ES")), SecretDetector()):
    detector.find(sys.argv[1])
print(*sorted({"phonenumbers", "stdnum", "detect_secrets", "requests"} & set(sys.modules)))
"""


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("I moved to Lisbon last week, and Dana is coming in May 2026.", ""),
        ("The meeting is on 2026-03-02 at 09:15.", "stdnum"),
        ("Write to dana@example.org", ""),
        ("call +1 202-555-0123", "phonenumbers stdnum"),
    ],
)
def test_a_text_imports_only_the_libraries_it_needs(
    text: str, imported: str
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTED, text],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(SHARED)},
    )
    assert ran.stdout.strip() == imported
