"""A trial of memories over scenarios, for `varve eval experience`; nothing else uses it."""
