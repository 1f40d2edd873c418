"""List the messages that `varve` can print, read from the code.

`docs/messages.md` holds them; `python -m docs.reference` writes it.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

LIBRARY = Path(__file__).parents[1] / "shared" / "varve"
VALUE = "…"
"""Stands for a value in a message."""
ERRORS = frozenset({"Rejected", "Misconfigured", "Retryable", "Contended"})
HINTS = (
    "usecases/search/search.py",
    "usecases/search/hints.py",
    "usecases/search/shared_memories.py",
    "usecases/context/context.py",
    "usecases/forget/forget.py",
)
"""Modules whose answers carry remarks that the command line prints."""
UNPRINTED = frozenset({"compile"})
"""Functions whose arguments are no messages."""


def list_messages() -> list[str]:
    """Return every message once, in alphabetical order."""
    found: set[str] = set()
    for path in sorted(LIBRARY.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        name = path.relative_to(LIBRARY).as_posix()
        found.update(_list_errors(tree))
        if name.startswith("cli/") or name in HINTS:
            found.update(_list_sentences(tree))
    return sorted(found, key=str.casefold)


def messages_reference() -> str:
    """Return the messages as a Markdown code block."""
    return "\n".join(["```text", *list_messages(), "```"])


def _list_errors(tree: ast.Module) -> Iterator[str]:
    """Yield the text of each error that the module makes."""
    constants = _read_constants(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name_of(node.func) in ERRORS:
            parts = [_read_text(part, constants) for part in node.args]
            message = ": ".join(parts)
            if _is_sentence(message):
                yield message.strip(" :")


def _list_sentences(tree: ast.Module) -> Iterator[str]:
    """Yield each text of several words that is no docstring."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if _is_text(node):
            text = _read_text(node, {})
            if _is_sentence(text):
                yield text.strip(" ,;:")
        elif not _is_unprinted(node):
            waiting += ast.iter_child_nodes(node)


def _is_text(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    return isinstance(node, ast.JoinedStr)


def _is_unprinted(node: ast.AST) -> bool:
    """Return whether the node holds no message of its own.

    Those are docstrings, types, help texts, and errors, which `_list_errors` lists.
    """
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Subscript):
        return True
    if isinstance(node, ast.keyword):
        return node.arg == "help"
    if isinstance(node, ast.Call):
        return _name_of(node.func) in ERRORS | UNPRINTED
    return False


def _read_constants(tree: ast.Module) -> dict[str, str]:
    """Return the module's text constants by name."""
    constants = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(
            node.targets[0], ast.Name
        ):
            constants[node.targets[0].id] = _read_text(node.value, {})
    return constants


def _read_text(node: ast.AST, constants: dict[str, str]) -> str:
    """Return the text of an expression, with `VALUE` in place of what it computes."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_read_text(part, constants) for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = _read_text(node.left, constants)
        return left + _read_text(node.right, constants)
    if isinstance(node, ast.Name):
        return constants.get(node.id, VALUE)
    return VALUE


def _name_of(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _is_sentence(text: str) -> bool:
    """Return whether the text has two words of its own."""
    words = [
        word
        for word in text.replace(VALUE, " ").split()
        if word.strip(".,:;()")
    ]
    return len(words) > 1
