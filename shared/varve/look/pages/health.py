"""Health: periods by state, dead letters, sizes, versions, and the last erasure."""

from varve.look.links import target
from varve.look.visit import PageView, Visit


def show_health(visit: Visit) -> PageView:
    """Show how things stand, as `varve status` and `varve dlq list` do."""
    status = visit.memory.status()
    grains = status["grains"]
    problems = 0
    for grain in grains.values():
        problems += len(grain.get("periods", {}).get("failed", ()))
    letters = visit.inspection.dead_letters()
    size = sum(grain["bytes"] for grain in grains.values())
    size += status["graph"]["bytes"]
    size += status["timeline"]["bytes"]
    values = {
        "status": status,
        "letters": letters,
        "problems": problems + len(letters or ()),
        "bytes": size,
    }
    return PageView(
        "health.html",
        "Health",
        values,
        up=target("timeline"),
        command=("status",),
    )
