"""A workspace for its operator: configuration, status, costs, repairs."""
