"""How two texts relate: whether the later one supersedes, confirms or leaves the earlier one."""
