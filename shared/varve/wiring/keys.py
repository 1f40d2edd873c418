"""Keys of model providers: where they are read from, and where each may be sent.

The operator's environment holds keys of several owners. A workspace chooses its address
itself, so it may name only variables that the operator listed, each with one address.
"""

from collections.abc import Iterator, Mapping

from varve.domain.errors import Misconfigured
from varve.domain.model_names import OPENROUTER
from varve.domain.workspace import KeyReference
from varve.wiring.settings import OPENROUTER_URL, Settings


def read_operator_key(provider: str, settings: Settings) -> str:
    """Return the operator's key for a provider. Raises Misconfigured: there is none."""
    if provider == OPENROUTER:
        if settings.openrouter_key is None:
            raise Misconfigured("OPENROUTER_API_KEY: is not set")
        return settings.openrouter_key
    if settings.api_key:
        return settings.api_key
    if settings.api_key_secret is None:
        raise Misconfigured(
            "OPENAI_API_KEY: is not set, and VARVE_API_KEY_SECRET names no secret"
        )
    return _read_secret(settings.api_key_secret)


def read_workspace_key(
    reference: KeyReference,
    address: str,
    settings: Settings,
    environment: Mapping[str, str],
) -> str:
    """Return the key that a workspace's configuration refers to.

    `address` is the one that the key will be sent to. Raises Misconfigured: names the
    variable or secret that is missing or may not be sent there.
    """
    if reference.environment:
        name = reference.environment
        if name not in settings.key_addresses:
            raise Misconfigured(
                f"{name}: VARVE_KEY_ADDRESSES does not list it, so that no workspace "
                "may name it"
            )
        _require_address(name, address, settings)
        return _read_variable(name, environment)
    secret = str(reference.secret)
    _require_address(secret, address, settings)
    key = _read_secret(secret)
    _require_another_key(key, secret, address, settings)
    return key


def _require_address(name: str, address: str, settings: Settings) -> None:
    bound = settings.key_addresses.get(name)
    if bound is not None and not _is_same(bound, address):
        raise Misconfigured(
            f"{name}: VARVE_KEY_ADDRESSES allows {bound} alone, not {address}"
        )


def _require_another_key(
    key: str, secret: str, address: str, settings: Settings
) -> None:
    """Raise Misconfigured if a workspace would get the operator's key by its secret.

    The values are compared, because a secret has several names.
    """
    for owned, own_address in _list_operator_keys(settings):
        if key == owned and not _is_same(address, own_address):
            raise Misconfigured(
                f"{secret}: holds the operator's key, which does not go to {address}"
            )


def _list_operator_keys(
    settings: Settings,
) -> Iterator[tuple[str | None, str]]:
    """Yield each key of the operator with the address it belongs to."""
    yield settings.api_key, settings.base_url
    yield settings.openrouter_key, OPENROUTER_URL
    yield settings.reranker_key, settings.reranker_url or settings.base_url
    if settings.api_key_secret:
        yield _read_secret(settings.api_key_secret), settings.base_url


def _read_variable(name: str, environment: Mapping[str, str]) -> str:
    key = environment.get(name)
    if not key:
        raise Misconfigured(
            f"{name}: is not set (the workspace's key reference)"
        )
    return key


def _read_secret(name: str) -> str:
    from varve.adapters.secrets_manager import read_secret

    return read_secret(name)


def _is_same(one: str, other: str) -> bool:
    return one.rstrip("/") == other.rstrip("/")
