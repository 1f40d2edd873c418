"""Whether a path is a directory, or may become one."""

import stat
from pathlib import Path


def is_directory(path: Path, *, follow_symlinks: bool = True) -> bool | None:
    """Whether one is there; None where nothing is. Raises ValueError: nothing can be there, and why."""
    try:
        return stat.S_ISDIR(path.stat(follow_symlinks=follow_symlinks).st_mode)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ValueError(
            f"cannot be a directory ({getattr(error, 'strerror', None) or error})"
        ) from error
