"""The only writers: commits by message group, retried when they lose a race."""
