"""The statements of one store, paired before any question is asked."""
