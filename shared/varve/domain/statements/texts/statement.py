"""What one speaker said in a message, as the pairing of statements reads it."""

from dataclasses import dataclass, field

from varve.domain.record import Vector
from varve.domain.search.row import MessageKey
from varve.domain.statements.texts.cues import Cues, read_cues


@dataclass(frozen=True, slots=True)
class Statement:
    """One message of one speaker, or one of its matters, as far as pairing needs it.

    `time` is in microseconds since 1970. `position` is the message's place in its
    conversation. `speaker` is who said it, as far as that is known. `messages` are those
    of which the triples state what the whole of it tells.
    """

    text: str
    vector: Vector = field(compare=False, repr=False)
    time: int
    conversation: str | None
    position: int
    speaker: str = ""
    messages: tuple[MessageKey, ...] = ()

    @property
    def cues(self) -> Cues:
        """The cues of its words."""
        return read_cues(self.text)
