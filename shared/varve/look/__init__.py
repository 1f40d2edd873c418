"""The page: an agent's memory as read-only HTML, served on loopback or written as files."""
