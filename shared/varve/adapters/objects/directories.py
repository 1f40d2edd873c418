"""Check whether a path is a directory or can become one."""

import stat
from pathlib import Path


def is_directory(path: Path, *, follow_symlinks: bool = True) -> bool | None:
    """Tell whether the path is a directory; return None if nothing is there.

    Raises ValueError, with the reason: no directory can be there.
    """
    try:
        return stat.S_ISDIR(path.stat(follow_symlinks=follow_symlinks).st_mode)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"cannot be a directory ({reason})") from error
