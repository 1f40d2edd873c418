"""The workspace's configuration: each setting by its dotted name, refused with what it may be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import MORNING, attempt
from tests.support.usecase_drivers import run_configure
from varve.adapters.in_memory import InMemoryObjects
from varve.api.memory import Memory
from varve.domain.calendar import SUMMARY_GRAINS, Grain
from varve.domain.errors import Rejected
from varve.domain.identity import Scope
from varve.domain.workspace import WorkspaceConfig, parse_workspace_config
from varve.usecases.ledger import Ledger
from varve.usecases.operate.configure import config_key, value, values

LIMITS = {f"retention.{grain}": "7 days" for grain in Grain}
WORDS = {f"prompts.summarize.{grain}": "Be brief." for grain in SUMMARY_GRAINS}
OF_AGENTS = {
    f"agents.support.v1.2.summarize.{grain}": "Be briefer."
    for grain in SUMMARY_GRAINS
}
EVERY_SETTING = {
    "plan": "pro",
    "timezone": "Europe/Lisbon",
    **LIMITS,
    "retention.timeline": "90 days",
    "prompts.extract": "Only facts.",
    **WORDS,
    "agents.support.v1.2.extract": "Only tickets.",
    **OF_AGENTS,
    "models.llm": "openai:gpt-x",
    "models.embedder": "openai:embed-x:256",
    "models.key.environment": "ACME_API_KEY",
    "privacy.mode": "redact",
    "privacy.nationalId": "block",
    "privacy.regions": "PT,BR",
    "search.halfLifeDays": "90.0",
    "search.weights": "date=0.8,kin=1.5",
}


class Workspace:
    """A workspace to configure."""

    def __init__(self) -> None:
        self.objects = InMemoryObjects()
        self.ledger = Ledger(self.objects)

    def set(self, name: str, text: str) -> WorkspaceConfig:
        return run_configure("acme", name, text, MORNING, objects=self.objects)

    @property
    def stored(self) -> bytes | None:
        found = self.objects.get("workspaces/acme/config.json")
        return found.data if found else None

    @property
    def config(self) -> WorkspaceConfig:
        return parse_workspace_config(self.stored or b"{}")

    @property
    def looked_at(self) -> set[str]:
        return {
            info.key.split("/")[4]
            for info in self.objects.list("ledger/expiry")
        }


@pytest.mark.parametrize(("name", "text"), EVERY_SETTING.items())
def test_every_setting_is_set_read_and_taken_back(
    name: str, text: str
) -> None:
    workspace = Workspace()
    assert value(workspace.set(name, text), name) == text
    assert value(workspace.config, name) == text
    workspace.set(name, "")
    assert workspace.config == WorkspaceConfig()
    assert (workspace.stored or b"").split() == [b"{}"]


def test_settings_are_kept_beside_each_other() -> None:
    workspace = Workspace()
    for name, text in EVERY_SETTING.items():
        workspace.set(name, text)
    known = values(workspace.config)
    assert {name: known[name] for name in EVERY_SETTING} == EVERY_SETTING
    workspace.set("models.baseUrl", "https://llm.example")
    assert workspace.config.models.base_url == "https://llm.example"


def test_the_list_has_every_setting_with_its_default() -> None:
    known = values(WorkspaceConfig())
    assert {*EVERY_SETTING, "models.baseUrl", "models.key.secret"} - {
        *known
    } == {name for name in EVERY_SETTING if name.startswith("agents.")}
    assert (known.pop("plan"), known.pop("timezone")) == ("free", "UTC")
    assert (known.pop("privacy.mode"), known.pop("privacy.regions")) == (
        "off",
        "US,GB,ES",
    )
    assert known.pop("search.halfLifeDays") == "180.0"
    assert known.pop("summaries.scope") == "user"
    assert known.pop("statements.changes") == "model"
    assert known.pop("costs.keepDays") == "400"
    assert known.pop("analytics.searches") == "off"
    assert known["budget.models"] is None
    experience = {
        name: known.pop(name)
        for name in list(known)
        if name.startswith("experience.")
    }
    assert experience == {
        "experience.gapMinutes": "120",
        "experience.subjectGapMinutes": "360",
        "experience.subjectLikeness": "0.2",
        "experience.recap": "rules",
        "experience.likeness": "0.1",
        "experience.window": "4",
        "experience.blockLessons": "20",
        "experience.materialSignals": None,
        "experience.timeToLiveDays": None,
        "experience.decay": "False",
        "experience.decayAfterDays": "7",
        "experience.decayPerDay": "0.05",
        "experience.evict": "False",
        "experience.answerDays": "180",
        "experience.answersPerSubject": "20",
        "experience.unreadDays": "30",
        "experience.researchEntries": "200",
    }
    assert {*known.values()} == {None}


@pytest.mark.parametrize(
    ("name", "text", "allowed"),
    [
        ("plan", "gold", ["'free'", "'starter'", "'pro'"]),
        ("timezone", "Lisbon", ["IANA", "Europe/Lisbon"]),
        *(
            (
                f"retention.{grain}",
                "always",
                ["hours", "days", "weeks", "30 days"],
            )
            for grain in Grain
        ),
        ("retention.timeline", "0 days", ["30 days"]),
        ("models.llm", "gpt-x", ["offline", "openai:<model>"]),
        (
            "models.embedder",
            "openai:embed-x",
            ["embedded", "openai:<model>:<dimensions>"],
        ),
        ("models.baseUrl", "https://llm.example", ["key reference"]),
        ("models.key.environment", "AWS_SECRET", ["_API_KEY"]),
        ("agents.../x.extract", "words", ["letters, digits"]),
    ],
)
def test_a_bad_value_is_refused_with_what_it_may_be_and_nothing_is_changed(
    name: str, text: str, allowed: list[str]
) -> None:
    workspace = Workspace()
    workspace.set("plan", "starter")
    before = (
        workspace.stored,
        [info.key for info in workspace.objects.list("ledger")],
    )
    refused = attempt(workspace.set, name, text)
    assert isinstance(refused, Rejected)
    assert refused.field == name
    assert [word for word in allowed if word not in refused.reason] == []
    assert (
        workspace.stored,
        [info.key for info in workspace.objects.list("ledger")],
    ) == before


@pytest.mark.parametrize(
    "name", ["", "Plan", "retention", "retention.hourly", "prompts.summarize", "prompts.summarize.working",
             "agents.support", "agents.support.summarize.working", "models.apiKey", "plan.name"]
)  # fmt: skip
@pytest.mark.parametrize("verb", ["get", "set"])
def test_an_unknown_name_is_refused_with_the_known_ones(
    name: str, verb: str
) -> None:
    workspace = Workspace()
    refused = attempt(
        *(
            (value, workspace.config, name)
            if verb == "get"
            else (workspace.set, name, "x")
        )
    )
    assert isinstance(refused, Rejected)
    if "did you mean" in refused.reason:
        return
    for known in (
        "plan",
        "timezone",
        "retention.daily",
        "models.llm",
        "agents.AGENT.summarize.GRAIN",
    ):
        assert known in refused.reason
    assert workspace.stored is None


def test_an_agents_own_words_are_nothing_until_they_are_set() -> None:
    assert value(WorkspaceConfig(), "agents.support.extract") is None


def test_invariant_7_a_workspaces_configuration_lies_under_its_own_name() -> (
    None
):
    assert config_key("acme") == "workspaces/acme/config.json"
    for name in ("../acme", "a/b", ""):
        assert isinstance(attempt(config_key, name), Rejected)


class RacedObjects(InMemoryObjects):
    """Objects that another process changes before the first conditional put."""

    raced = False

    def put_if(self, key: str, data: bytes, etag: str | None) -> bool:
        if not self.raced:
            self.raced = True
            self.put(key, b'{"plan":"pro"}')
        return super().put_if(key, data, etag)


def test_a_change_by_another_process_meanwhile_is_kept() -> None:
    objects = RacedObjects()
    config = run_configure("acme", "timezone", "UTC", MORNING, objects=objects)
    assert (config.plan, config.timezone) == ("pro", "UTC")


@pytest.mark.parametrize(
    ("name", "text", "agents"),
    [
        ("plan", "pro", {"support", "sales"}),
        ("timezone", "Asia/Tokyo", {"support", "sales"}),
        ("retention.weekly", "2 weeks", {"support", "sales"}),
        ("prompts.extract", "words", set()),
        ("models.llm", "offline", set()),
    ],
)
def test_what_bears_on_retention_has_cleanup_look_at_the_workspaces_agents_only(
    name: str, text: str, agents: set[str]
) -> None:
    workspace = Workspace()
    for scope in ("acme/support", "acme/sales", "rival/support-2"):
        workspace.objects.put(f"vectordb/{scope}/working/file", b"")
    workspace.set(name, text)
    assert workspace.looked_at == agents
    notes = workspace.ledger.expiring(MORNING.replace(hour=10))
    assert len(notes.get(Scope("acme", "support"), ())) == (
        len(Grain) if agents else 0
    )


@pytest.fixture
def pro_by_default(tmp_path: Path) -> Callable[[], Memory]:
    environment: dict[str, Any] = {"VARVE_DEFAULT_PLAN": "pro"}
    return lambda: Memory.open(
        tmp_path, workspace="acme", now=MORNING, environment=environment
    )


def test_setting_something_else_leaves_the_operators_default_plan(
    pro_by_default: Callable[[], Memory],
) -> None:
    """Otherwise the next cleanup deletes by the free plan what a pro one keeps."""
    assert pro_by_default().setting("plan") == "pro"
    pro_by_default().configure("timezone", "Europe/Lisbon")
    assert pro_by_default().setting("plan") == "pro"
