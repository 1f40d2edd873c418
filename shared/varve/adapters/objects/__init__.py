"""Objects under the store root."""
