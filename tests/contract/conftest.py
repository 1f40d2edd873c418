"""Import LanceDB without its REST client, before a module of tests imports the whole of it."""

import varve.adapters.lance  # noqa: F401 - its import is what is wanted
