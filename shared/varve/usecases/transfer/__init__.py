"""Export, import, and the move to another embedding model."""
