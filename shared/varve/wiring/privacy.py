"""Build a workspace's privacy filter."""

import time
from collections.abc import Mapping

from varve.domain.errors import Misconfigured, Rejected
from varve.domain.personal import Kind, Mode, pseudonym
from varve.domain.workspace import WorkspaceConfig
from varve.ports.clock import Timer
from varve.ports.models import Detector
from varve.usecases.privacy import Privacy

MIN_PSEUDONYM_KEY = 16
_TIMER: Timer = time.thread_time
"""The thread's own processor time: a busy machine must not shorten a filter."""


def build_privacy(
    config: WorkspaceConfig, workspace: str, environment: Mapping[str, str]
) -> Privacy:
    """Build the workspace's filter. Raises Misconfigured: pseudonyms need a key."""
    from varve.adapters.detectors.secrets import SecretDetector

    modes = config.privacy.modes
    if not modes:
        return Privacy({}, [SecretDetector()], timer=_TIMER)
    from varve.adapters.detectors.personal import PersonalDetector

    personal = PersonalDetector(config.privacy.regions.split(","))
    detectors: list[Detector] = [SecretDetector(), personal]
    if Mode.PSEUDONYM not in modes.values():
        return Privacy(modes, detectors, timer=_TIMER)
    key = _pseudonym_key(config, environment)

    def replacement(kind: Kind, value: str) -> str:
        return pseudonym(kind, value, key, workspace)

    return Privacy(modes, detectors, replacement, _TIMER)


def require_regions(config: WorkspaceConfig) -> None:
    """Raise Rejected if the phone numbers of one of the regions are unknown."""
    from varve.adapters.detectors.personal import PHONELESS, phoneless

    for region in phoneless(config.privacy.regions.split(",")):
        raise Rejected("privacy.regions", f"{region!r} {PHONELESS}")


def _pseudonym_key(
    config: WorkspaceConfig, environment: Mapping[str, str]
) -> bytes:
    """Return the key from the secret or variable that the workspace names."""
    reference = config.privacy.key
    if reference is None or reference.secret is None:
        named = (reference and reference.environment) or "privacy.key"
        key = environment.get(named, "")
    else:
        from varve.adapters.secrets_manager import read_secret

        named, key = reference.secret, read_secret(reference.secret)
    if len(key.strip()) < MIN_PSEUDONYM_KEY:
        raise Misconfigured(
            f"{named}: must hold the pseudonyms' key, of {MIN_PSEUDONYM_KEY} characters or more"
        )
    return key.strip().encode()
