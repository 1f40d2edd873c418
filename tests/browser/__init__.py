"""The pages in a real browser; skipped without one."""
