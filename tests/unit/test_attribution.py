"""What an erasure leaves of a summary keeps its days and its speakers."""

from varve.domain.attribution import attribute

PROSE = (
    "2026-07-01: Omar: The parcel arrived.\n"
    "2026-07-02: Omar: We booked a riad. Hassan is the guide.\n"
    "Lea: The museum is closed."
)


def test_sentences_left_of_a_day_keep_its_date_and_speaker() -> None:
    attribution = attribute(
        ["We booked a riad."],
        ["The parcel arrived. Hassan is the guide. The museum is closed."],
    )
    assert attribution.keep_sentences(PROSE) == (
        "2026-07-01: Omar: The parcel arrived.\n"
        "2026-07-02: Omar: Hassan is the guide.\n"
        "Lea: The museum is closed."
    )


def test_prose_without_dates_keeps_its_sentences() -> None:
    attribution = attribute(["A riad."], ["The parcel arrived. Hassan."])
    kept = attribution.keep_sentences(
        "The parcel arrived. They booked a riad. Hassan is a guide."
    )
    assert kept == "The parcel arrived. Hassan is a guide."


def test_prose_of_others_alone_stays_as_it_is() -> None:
    attribution = attribute(["A kiln."], [PROSE])
    assert attribution.keep_sentences(PROSE) == PROSE
