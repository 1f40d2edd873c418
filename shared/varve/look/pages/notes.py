"""Notes: the texts at paths, and one of them with its versions."""

from varve.look.links import name_note, target
from varve.look.visit import SHOWN, PageView, Visit


def list_notes(visit: Visit) -> PageView:
    """List the notes of the agent and of its users, or of one user, by path."""
    prefix = visit.where.option("q")
    start = visit.where.number("start")
    found = visit.inspection.notes(
        prefix, user_id=visit.user, start=start, most=SHOWN
    )
    values = {
        "prefix": prefix,
        "notes": [
            (one, name_note(one.path, one.user_id)) for one in found.notes
        ],
        "total": found.total,
        "start": start,
        "shown": SHOWN,
    }
    return PageView(
        "notes.html",
        "Notes",
        values,
        up=target("timeline"),
        command=("note", "list"),
    )


def show_note(visit: Visit) -> PageView:
    """Show a note with its versions. Raises Rejected: there is no such note."""
    path = visit.key()
    owner = visit.key(1) or None
    note = visit.inspection.note(path, user_id=owner)
    whose = ("--user", owner) if owner else ()
    return PageView(
        "note.html",
        f"Note {path}",
        {"note": note},
        up=target("notes"),
        command=("note", "show", path, *whose, "--versions"),
    )
