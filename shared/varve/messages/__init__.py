"""The queues' JSON: what travels between the functions, encoded, decoded and refused."""
