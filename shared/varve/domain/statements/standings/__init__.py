"""Which statements of a store still hold, and since when."""
