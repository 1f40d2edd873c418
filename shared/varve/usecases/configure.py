"""A workspace's configuration: read a value, change one, and have cleanup notice."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ValidationError

from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.errors import Rejected, Retryable
from varve.domain.identity import Scope, path_id
from varve.domain.ledger import LedgerChanges, expiry_key
from varve.domain.validation import rejected
from varve.domain.workspace import (
    DEFAULT_EMBEDDER,
    ModelsConfig,
    WorkspaceConfig,
    parse_workspace_config,
)
from varve.ports.objects import Objects
from varve.usecases.ledger import Ledger
from varve.usecases.session import Session

_AGENTS = "agents.AGENT.extract or agents.AGENT.summarize.GRAIN"
_OF_AGENT = re.compile(
    rf"agents\.(.+)\.(extract|summarize\.(?:{'|'.join(SUMMARY_GRAINS)}))"
)
_CHANGES_RETENTION = frozenset({"plan", "timezone", "retention"})


def config_key(workspace: str) -> str:
    """Where a workspace's configuration lies. Raises Rejected: not a valid id."""
    return f"workspaces/{path_id(workspace, 'workspaceId')}/config.json"


def values(config: WorkspaceConfig) -> dict[str, Any]:
    """Every setting by its dotted name, `retention.daily`; None where nothing is set."""
    return dict(_flat(config, ""))


def value(config: WorkspaceConfig, name: str) -> Any:
    """One setting. Raises Rejected: there is none of this name."""
    known = values(config)
    if name not in known and not _OF_AGENT.fullmatch(name):
        raise Rejected(
            name[:60], f"is not a setting; there are {', '.join(known)} and {_AGENTS}"
        )
    return known.get(name)


def change(session: Session, name: str, text: str) -> WorkspaceConfig:
    """Set one value, or with an empty text restore its default; return the configuration.

    If it affects retention, cleanup will look at all of the workspace's agents. If it
    names another embedder, the previous one is noted, because the stores are of its
    model. Raises Rejected: names the setting and what it may be, and nothing is
    changed; Retryable.
    """
    workspace = session.scope.workspace
    objects = session.objects
    key = config_key(workspace)
    if not isinstance(text, str):
        raise Rejected(name[:60], "is set by a text, such as '90' or 'true'")
    if (
        text.encode(errors="replace").decode() != text
    ):  # a lone surrogate, which no object can hold
        raise Rejected(
            name[:60].encode(errors="replace").decode(), "is not valid Unicode text"
        )
    stored = objects.get(key)
    before = parse_workspace_config(stored.data) if stored else WorkspaceConfig()
    tree = _tree_with(before, name, text)
    if name == "models.embedder" and objects.folders(f"vectordb/{workspace}"):
        _note_embedder(tree, before.models, text)
    config = _validated(tree, name)
    data = config.model_dump_json(by_alias=True, exclude_unset=True, indent=2).encode()
    if not objects.put_if(key, data, stored.etag if stored else None):
        raise Retryable(
            f"configuration of {workspace}: was changed by somebody else meanwhile"
        )
    if name.partition(".")[0] in _CHANGES_RETENTION:
        _look_again(workspace, session.now, objects, session.ledger)
    return config


def with_value(config: WorkspaceConfig, name: str, text: str) -> WorkspaceConfig:
    """The configuration with one value set; nothing is stored. Raises Rejected: it may not be that."""
    return _validated(_tree_with(config, name, text), name)


def _tree_with(config: WorkspaceConfig, name: str, text: str) -> dict[str, Any]:
    value(config, name)
    tree: dict[str, Any] = config.model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )
    _put(tree, _path(name), text)
    return tree


def move_from(workspace: str, embedders: Sequence[str], *, objects: Objects) -> None:
    """Note the embedders that stores are still of; none: all have moved. Raises Retryable."""
    key = config_key(workspace)
    stored = objects.get(key)
    before = parse_workspace_config(stored.data) if stored else WorkspaceConfig()
    if before.models.embedders_before == tuple(embedders):
        return
    tree = before.model_dump(mode="json", by_alias=True, exclude_unset=True)
    _put(tree, ["models", "movingFrom"], ",".join(embedders))
    data = _validated(tree, "models.movingFrom").model_dump_json(
        by_alias=True, exclude_unset=True, indent=2
    )
    if not objects.put_if(key, data.encode(), stored.etag if stored else None):
        raise Retryable(
            f"configuration of {workspace}: was changed by somebody else meanwhile"
        )


def _validated(tree: dict[str, Any], name: str) -> WorkspaceConfig:
    try:
        return WorkspaceConfig.model_validate(tree)
    except ValidationError as error:
        found = rejected(error)
        raise Rejected(name, found.reason) from error


def _path(name: str) -> list[str]:
    """The steps of a dotted name; an agent's id may itself have dots."""
    of_agent = _OF_AGENT.fullmatch(name)
    return (
        ["agents", of_agent[1], *of_agent[2].split(".")]
        if of_agent
        else name.split(".")
    )


def _put(tree: dict[str, Any], path: list[str], text: str) -> None:
    """Set or remove the value at the path; a part that is left empty goes too."""
    *parents, last = path
    nodes = [tree]
    for parent in parents:
        nodes.append(nodes[-1].setdefault(parent, {}) or {})
        nodes[-2][parent] = nodes[-1]
    if text:
        nodes[-1][last] = text
    else:
        nodes[-1].pop(last, None)
    for parent, node, inner in zip(
        parents[::-1], nodes[-2::-1], nodes[::-1], strict=False
    ):
        if not inner:
            node.pop(parent, None)


def _note_embedder(tree: dict[str, Any], before: ModelsConfig, text: str) -> None:
    """Stores are searched with the embedder they were written with until `reembed` has moved them."""
    known = dict.fromkeys(
        [*before.embedders_before, before.embedder or DEFAULT_EMBEDDER]
    )
    known.pop(text or DEFAULT_EMBEDDER, None)
    _put(tree, ["models", "movingFrom"], ",".join(known))


def _look_again(
    workspace: str, now: datetime, objects: Objects, ledger: Ledger
) -> None:
    for agent in objects.folders(f"vectordb/{workspace}"):
        scope = Scope(workspace, agent)
        ledger.change(
            LedgerChanges(
                expiries=tuple(expiry_key(now, scope, grain) for grain in Grain)
            )
        )


def _flat(part: BaseModel, prefix: str) -> Iterator[tuple[str, Any]]:
    for field_name, field in type(part).model_fields.items():
        name, inner = prefix + str(field.alias), getattr(part, field_name)
        if isinstance(inner, BaseModel):
            yield from _flat(inner, name + ".")
        elif name == "agents":
            for agent, prompts in inner.items():
                yield from (
                    (n, v)
                    for n, v in _flat(prompts, f"agents.{agent}.")
                    if v is not None
                )
        elif field_name == "summarize":
            yield from (
                (f"{name}.{grain}", inner.get(grain)) for grain in SUMMARY_GRAINS
            )
        elif name in ("models.key", "privacy.key"):
            yield from ((f"{name}.{kind}", None) for kind in ("environment", "secret"))
        else:
            yield name, inner if inner is None else str(inner)
