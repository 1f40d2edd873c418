"""Help: the keys, the states of a period, and how to change memory."""

from varve.domain.strata import Condition
from varve.look.links import target
from varve.look.visit import PageView, Visit

CONDITIONS = {
    Condition.RUNNING: "The period is not over.",
    Condition.READY: "The summary is complete.",
    Condition.STALE: "New words came after the summary was made.",
    Condition.DUE: "The period is over; its summary is to be made.",
    Condition.WAITING: "A finer period is to be summarized first.",
    Condition.FAILED: "The last attempt to make the summary failed.",
    Condition.EXPIRED: "Retention has deleted the summary.",
    Condition.EMPTY: "There was nothing to summarize.",
}
"""What each state of a period means."""


def show_help(_: Visit) -> PageView:
    """Show the keys and the meaning of each state."""
    return PageView(
        "help.html", "Help", {"conditions": CONDITIONS}, up=target("timeline")
    )
