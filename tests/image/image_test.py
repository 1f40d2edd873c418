"""Builds the Dockerfile as it is and sends a conversation through it, from ingest to its day's summary.

Run by `make image-test` (python tests/image/image_test.py). Each function starts in a container of its own,
read-only, with the memory and the share of a processor that the template gives it, under the runtime
client. Needs buildah, podman, runc and mmdebstrap, no Docker and no registry login: a Debian stand-in
carries the base image's name inside a private image store that is removed afterwards. It is not Amazon
Linux, and it is built for this machine's processor only. Where a tool is missing the test says which and
exits 0, or 1 with IMAGE_TEST_REQUIRED=1.

IMAGE_TEST_INIT_SECONDS   what a cold start may take, the container's own start included (5; Lambda allows 10)
IMAGE_TEST_STORAGE        the storage driver (overlay; vfs works anywhere and is slow)
IMAGE_TEST_KEEP=1         leaves the image store behind and says where it is
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT))

from tests.image.containers import Failed, Function, Images, scratch  # noqa: E402 - after the path is set
from tests.image.queues import DEAD_LETTERS, Queues  # noqa: E402
from tests.support import sam  # noqa: E402

TOOLS = ("buildah", "podman", "runc", "mmdebstrap")
INSTALL = "sudo apt-get install --no-install-recommends " + " ".join(TOOLS)
FUNCTIONS = ("ingest", "extract", "write", "summarize", "cleanup", "search")
NEEDED = (
    "Dockerfile",
    "requirements.lock",
    *(f"functions/{name}/app.py" for name in FUNCTIONS),
)
INIT_SECONDS = float(os.environ.get("IMAGE_TEST_INIT_SECONDS", "5"))

CONVERSATION = {
    "workspaceId": "acme",
    "agentId": "support",
    "conversationId": "image-test",
    "userId": "u-42",
    "messages": [
        {"id": "m1", "role": "user", "name": "Dana", "content": "I moved to Lisbon last week.",
         "timestamp": "2026-03-02T09:15:00Z"}
    ],
}  # fmt: skip
QUESTION = {
    "workspaceId": "acme",
    "agentId": "support",
    "arguments": {"queryText": "Where does Dana live?"},
}
ANSWER = "Lisbon"
DAILY = {
    "workspaceId": "acme",
    "agentId": "support",
    "arguments": {"grain": "daily"},
}
NIGHT = {"grain": "daily", "scheduledTime": "2026-03-03T01:10:00Z"}
CLEANUP = {"scheduledTime": "2026-03-06T05:10:00Z"}

Json = Any


def main(root: Path) -> int:
    missing = missing_parts(root)
    if missing:
        print("image-test: not run: " + "; ".join(missing))
        return 1 if os.environ.get("IMAGE_TEST_REQUIRED") == "1" else 0
    try:
        with scratch() as work:
            check(Images(work), root)
    except Failed as error:
        print(f"image-test: FAILED: {error}", file=sys.stderr)
        return 1
    print("image-test: passed")
    return 0


def missing_parts(root: Path) -> list[str]:
    """What keeps the test from running here, each with its remedy."""
    tools = [tool for tool in TOOLS if not shutil.which(tool)]
    files = [name for name in NEEDED if not (root / name).is_file()]
    said = (
        [f"{', '.join(tools)} not found (Debian, Ubuntu: {INSTALL})"]
        if tools
        else []
    )
    return said + ([f"the project has no {', '.join(files)}"] if files else [])


def check(images: Images, root: Path) -> None:
    """Build, then rehearse. Raises Failed."""
    functions = template_functions(root / "template.yaml")
    with step("the stand-in base"):
        images.build_base(root / "Dockerfile")
    with step("the image"):
        images.build(root / "Dockerfile")
    with Queues() as queues:
        rehearsal = Rehearsal(images, functions, queues)
        rehearsal.conversation()
        rehearsal.nights()


class Rehearsal:
    """A conversation on its way through the functions, one cold start each."""

    def __init__(
        self, images: Images, functions: Mapping[str, Function], queues: Queues
    ) -> None:
        self.images, self.functions, self.queues = images, functions, queues
        self.values = environment(queues)

    def conversation(self) -> None:
        """Ingest it, extract it, write it, find it. Raises Failed."""
        self.invoke("IngestFunction", CONVERSATION)
        self.consume("ExtractFunction", "ingest.fifo")
        self.consume("WriteFunction", "writes.fifo")
        found = self.invoke("SearchFunction", QUESTION)
        if ANSWER not in json.dumps(found):
            raise Failed(
                f"SearchFunction did not find {ANSWER}: {json.dumps(found)[:2000]}"
            )

    def nights(self) -> None:
        """Summarize the day once it is over, find its summary, clean up later. Raises Failed."""
        self.invoke("SummarizeFunction", NIGHT)
        self.consume("SummarizeFunction", "summaries.fifo")
        self.consume("WriteFunction", "writes.fifo")
        found = self.invoke("SearchFunction", DAILY)["results"]
        if [(each["grain"], each["period"]) for each in found] != [
            ("daily", "2026-03-02")
        ]:
            raise Failed(
                f"SearchFunction did not find the day's summary: {json.dumps(found)[:2000]}"
            )
        planned = self.invoke("CleanupFunction", CLEANUP)
        if planned != {"planned": 1, "left": 0}:
            raise Failed(
                f"CleanupFunction found another than the one agent with a day over: {planned}"
            )
        self.consume("SummarizeFunction", "summaries.fifo")
        self.consume("WriteFunction", "writes.fifo")

    def consume(self, name: str, queue: str) -> None:
        batch = self.queues.take(queue)
        if not batch["Records"]:
            raise Failed(f"{name}: nothing was sent to {queue}")
        answer = self.invoke(name, batch)
        if answer["batchItemFailures"] or self.queues.sent[DEAD_LETTERS]:
            raise Failed(
                f"{name}: {answer}, dead letters: {self.queues.sent[DEAD_LETTERS]}"
            )

    def invoke(self, name: str, event: Json) -> Json:
        function = self.functions[name]
        given = {
            key: self.values[key] for key in function.variables
        } | lambda_environment(name, self.queues)
        run = self.images.invoke(function, event, given)
        cold = f"with {function.memory_mb} MB init {run.init_seconds:.1f} s, answer {run.answer_seconds:.1f} s"  # noqa: E501
        print(f"image-test: {name}: {cold}, {shown(run.answer)}")
        if run.init_seconds > INIT_SECONDS:
            raise Failed(
                f"{name}: init took {run.init_seconds:.1f} s, {INIT_SECONDS:.0f} s are allowed"
            )
        return run.answer


def template_functions(path: Path) -> dict[str, Function]:
    """The functions as the template declares them."""
    template = sam.translate(sam.load_template(path))
    return {
        name: _function(name, it["Properties"])
        for name, it in sam.functions(template).items()
    }


def environment(queues: Queues) -> dict[str, str]:
    """A value for every variable that the template may give a function."""
    return {
        "POWERTOOLS_SERVICE_NAME": "image-test",
        "POWERTOOLS_METRICS_NAMESPACE": "Varve",
        "POWERTOOLS_LOG_LEVEL": "INFO",
        "VARVE_STORE": "/tmp/memory",
        "VARVE_INGEST_QUEUE_URL": queues.url("ingest.fifo"),
        "VARVE_WRITE_QUEUE_URL": queues.url("writes.fifo"),
        "VARVE_SUMMARY_QUEUE_URL": queues.url("summaries.fifo"),
        "VARVE_LLM": "offline",
        "VARVE_EMBEDDER": "embedded",
        "OPENAI_BASE_URL": "http://127.0.0.1:9",
        "VARVE_API_KEY_SECRET": "",
        "VARVE_DEFAULT_PLAN": "free",
        "VARVE_IDENTITIES": "{}",
    }


def lambda_environment(name: str, queues: Queues) -> dict[str, str]:
    """What Lambda itself sets, with AWS on loopback."""
    return {
        "AWS_LAMBDA_FUNCTION_NAME": name,
        "AWS_EXECUTION_ENV": "AWS_Lambda_Image",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_ENDPOINT_URL": f"http://{queues.address}",
    }


def shown(answer: Json) -> str:
    text = json.dumps(answer, ensure_ascii=False)
    return text if len(text) <= 160 else text[:160] + "…"


@contextmanager
def step(what: str) -> Iterator[None]:
    started = time.monotonic()
    print(f"image-test: building {what} …", flush=True)
    yield
    print(
        f"image-test: built in {time.monotonic() - started:.0f} s", flush=True
    )


def _function(name: str, properties: Mapping[str, Json]) -> Function:
    return Function(
        name=name,
        handler=properties["ImageConfig"]["Command"][0],
        memory_mb=properties["MemorySize"],
        timeout=properties["Timeout"],
        variables=frozenset(properties["Environment"]["Variables"]),
    )


if __name__ == "__main__":
    sys.exit(
        main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PROJECT)
    )
