"""A workspace's configuration: read a setting, or change one and notify cleanup."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.errors import Contended, Rejected
from varve.domain.identity import Scope, path_id
from varve.domain.ledger import LedgerChanges, expiry_key
from varve.domain.setting_texts import DEFAULT_EMBEDDER
from varve.domain.validation import rejected
from varve.domain.workspace import (
    ModelsConfig,
    WorkspaceConfig,
    parse_workspace_config,
)
from varve.ports.objects import Objects, StoredObject
from varve.usecases.ledger import Ledger
from varve.usecases.session import Session
from varve.usecases.write.contention import until_uncontended

_AGENTS = "agents.AGENT.extract, agents.AGENT.summarize.GRAIN or agents.AGENT.search.agents"
_OF_AGENT = re.compile(
    rf"agents\.(.+)\.(extract|search\.agents|summarize\.(?:{'|'.join(SUMMARY_GRAINS)}))"
)
_KEY_REFERENCES = ("models.key", "privacy.key")
"""Settings that refer to a key; they are a part of the configuration when set."""
_CHANGES_RETENTION = frozenset({"plan", "timezone", "retention", "experience"})


def config_key(workspace: str) -> str:
    """Return the key of a workspace's configuration. Raises Rejected: not a valid id."""
    return f"workspaces/{path_id(workspace, 'workspaceId')}/config.json"


def values(config: WorkspaceConfig) -> dict[str, Any]:
    """Return every setting by its dotted name, `retention.daily`; None: not set."""
    return dict(_flatten(config, ""))


def value(config: WorkspaceConfig, name: str) -> Any:
    """Return one setting. Raises Rejected: there is none of this name."""
    known = values(config)
    if name not in known and not _OF_AGENT.fullmatch(name):
        raise Rejected(name[:60], _describe_known(name, known))
    return known.get(name)


def _describe_known(name: str, known: Iterable[str]) -> str:
    """Return the setting that was probably meant, else the names of all."""
    near = get_close_matches(name, list(known), 1)
    if near:
        return f"is not a setting; did you mean {near[0]}? `varve config list` has all"
    return f"is not a setting; there are {', '.join(known)} and {_AGENTS}"


def change(session: Session, name: str, text: str) -> WorkspaceConfig:
    """Set one value, or with an empty text restore its default; return the configuration.

    If it affects retention, cleanup inspects all of the workspace's agents next time. If
    it names another embedder, the previous one is noted, because the stores still need
    it. Raises Rejected: names the setting and its valid values, and nothing is changed;
    Retryable.
    """
    _require_text(name, text)
    config = until_uncontended(partial(_change, session, name, text))
    if name.partition(".")[0] in _CHANGES_RETENTION:
        workspace = session.scope.workspace
        _request_cleanup(
            workspace, session.now, session.objects, session.ledger
        )
    return config


def _change(session: Session, name: str, text: str) -> WorkspaceConfig:
    workspace = session.scope.workspace
    objects = session.objects
    stored = objects.get(config_key(workspace))
    before = (
        parse_workspace_config(stored.data) if stored else WorkspaceConfig()
    )
    tree = _tree_with(before, name, text)
    if name == "models.embedder" and objects.folders(f"vectordb/{workspace}"):
        _note_embedder(tree, before.models, text)
    config = _validate(tree, name)
    _put_config(workspace, config, stored, objects)
    return config


def _require_text(name: str, text: object) -> None:
    """Raise Rejected if the value is not a text that an object can hold."""
    if not isinstance(text, str):
        raise Rejected(name[:60], "is set by a text, such as '90' or 'true'")
    # A lone surrogate cannot be encoded.
    if text.encode(errors="replace").decode() != text:
        field = name[:60].encode(errors="replace").decode()
        raise Rejected(field, "is not valid Unicode text")


def with_value(
    config: WorkspaceConfig, name: str, text: str
) -> WorkspaceConfig:
    """Return the configuration with one value set, without storing it.

    Raises Rejected: the value is not valid.
    """
    return _validate(_tree_with(config, name, text), name)


def _tree_with(
    config: WorkspaceConfig, name: str, text: str
) -> dict[str, Any]:
    value(config, name)  # raises Rejected: no such setting
    tree: dict[str, Any] = config.model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )
    _put(tree, _path(name), text)
    return tree


def move_from(
    workspace: str, embedders: Sequence[str], *, objects: Objects
) -> None:
    """Note the embedders that stores still need; none: all have moved. Raises Retryable."""
    key = config_key(workspace)
    stored = objects.get(key)
    before = (
        parse_workspace_config(stored.data) if stored else WorkspaceConfig()
    )
    if before.models.embedders_before == tuple(embedders):
        return
    tree = before.model_dump(mode="json", by_alias=True, exclude_unset=True)
    _put(tree, ["models", "movingFrom"], ",".join(embedders))
    _put_config(
        workspace, _validate(tree, "models.movingFrom"), stored, objects
    )


def _put_config(
    workspace: str,
    config: WorkspaceConfig,
    stored: StoredObject | None,
    objects: Objects,
) -> None:
    """Store the configuration in place of `stored`. Raises Contended: it has changed."""
    key = config_key(workspace)
    data = config.model_dump_json(by_alias=True, exclude_unset=True, indent=2)
    etag = stored.etag if stored else None
    if not objects.put_if(key, data.encode(), etag):
        raise Contended(
            f"configuration of {workspace}: another process changed it"
        )


def _validate(tree: dict[str, Any], name: str) -> WorkspaceConfig:
    try:
        return WorkspaceConfig.model_validate(tree)
    except ValidationError as error:
        found = rejected(error)
        raise Rejected(name, found.reason) from error


def _path(name: str) -> list[str]:
    """Return the parts of a dotted name; an agent's id may itself contain dots."""
    of_agent = _OF_AGENT.fullmatch(name)
    if of_agent is None:
        return name.split(".")
    agent, setting = of_agent.groups()
    return ["agents", agent, *setting.split(".")]


def _put(tree: dict[str, Any], path: list[str], text: str) -> None:
    """Set the value at the path; with an empty text remove it, and parts left empty."""
    first, *rest = path
    if rest:
        node = tree.get(first) or {}
        _put(node, rest, text)
        tree[first] = node
        if not node:
            del tree[first]
    elif text:
        tree[first] = text
    else:
        tree.pop(first, None)


def _note_embedder(
    tree: dict[str, Any], before: ModelsConfig, text: str
) -> None:
    """Note the embedder that the stores still need until `reembed` has moved them."""
    current = before.embedder or DEFAULT_EMBEDDER
    known = dict.fromkeys([*before.embedders_before, current])
    known.pop(text or DEFAULT_EMBEDDER, None)
    _put(tree, ["models", "movingFrom"], ",".join(known))


def _request_cleanup(
    workspace: str, now: datetime, objects: Objects, ledger: Ledger
) -> None:
    """Put expiry notes for every grain of every agent, due now."""
    for agent in objects.folders(f"vectordb/{workspace}"):
        scope = Scope(workspace, agent)
        notes = tuple(expiry_key(now, scope, grain) for grain in Grain)
        ledger.change(LedgerChanges(expiries=notes))


def _flatten(part: BaseModel, prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield the settings of one part of the configuration by their dotted names."""
    for field_name, field in type(part).model_fields.items():
        name = prefix + str(field.alias)
        inner = getattr(part, field_name)
        if isinstance(inner, BaseModel):
            yield from _flatten(inner, name + ".")
        elif name == "agents":
            yield from _flatten_agents(inner)
        elif field_name == "summarize":
            for grain in SUMMARY_GRAINS:
                yield f"{name}.{grain}", inner.get(grain)
        elif name in _KEY_REFERENCES:
            yield f"{name}.environment", None
            yield f"{name}.secret", None
        else:
            yield name, None if inner is None else str(inner)


def _flatten_agents(
    agents: Mapping[str, BaseModel],
) -> Iterator[tuple[str, Any]]:
    """Yield the settings of agents that are set."""
    for agent, prompts in agents.items():
        for name, text in _flatten(prompts, f"agents.{agent}."):
            if text is not None:
                yield name, text
