"""From a conversation to facts: accept it, read it, send it to the writer."""
