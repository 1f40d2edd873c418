"""An agent's experience, folded from rows: episodes, links, lessons and prior answers."""
