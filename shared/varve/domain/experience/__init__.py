"""What an agent learns from what it did, folded from a set of rows: episodes, links, lessons, answers."""
