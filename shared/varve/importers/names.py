"""The names of the formats, for those that show them and read no file."""

AUTO = "auto"
"""The format is recognized by the beginning of the file."""

NAMES = (
    AUTO,
    "varve",
    "chatgpt",
    "claude",
    "claude-code",
    "mem0",
    "letta",
    "graphiti",
    "agentcore",
    "jsonl",
    "openai",
    "whatsapp",
    "markdown",
)
"""The names that `--format` takes, in the order in which they are tried."""
