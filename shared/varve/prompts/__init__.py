"""One file per task a model does: the words it is given, and the shape of its reply beside them."""
