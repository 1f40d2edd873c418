"""Faults of a disk that an operator must mend, in words, whichever library reports them.

Python's own errors carry the number. obstore and LanceDB, written in Rust, carry it in
their text as `(os error 28)`, the form of Rust's `std::io::Error`.
"""

import errno
import re
from collections.abc import Callable, Mapping

from varve.domain.errors import Misconfigured, Retryable, VarveError

_RUST_NUMBER = re.compile(r"\(os error (\d+)\)")
_Fault = tuple[Callable[[str], VarveError], str]
_FAULTS: Mapping[int, _Fault] = {
    errno.ENOSPC: (Retryable, "the disk is full"),
    errno.EDQUOT: (Retryable, "the disk quota is used up"),
    errno.EROFS: (Misconfigured, "the file system is read-only"),
    errno.EACCES: (Misconfigured, "permission denied"),
    errno.EPERM: (Misconfigured, "permission denied"),
}


def disk_error(where: str, error: BaseException) -> VarveError | None:
    """Return the error that names `where` and the fault; None if the disk has no fault."""
    number = _number_of(error)
    if number not in _FAULTS:
        return None
    kind, words = _FAULTS[number]
    return kind(f"{where}: {words}")


def _number_of(error: BaseException) -> int:
    number = getattr(error, "errno", None)
    if isinstance(number, int):
        return number
    found = _RUST_NUMBER.search(str(error))
    return int(found[1]) if found else 0
