"""`varve tool-schema`: the tools' definitions, as other systems take them."""

import argparse
import json

from varve.cli.entries import AddNames
from varve.cli.output import print_result

FORMATS = ("openai", "anthropic", "bedrock", "mcp")


def add_tool_schema(command: argparse.ArgumentParser) -> None:
    """Add the arguments of `varve tool-schema`."""
    command.add_argument(
        "tools",
        nargs="*",
        metavar="TOOL",
        default=["search_memory"],
        help="names of tools, or all; default: search_memory",
    )
    command.add_argument(
        "--format",
        choices=FORMATS,
        default="mcp",
        help="whose form: openai, anthropic, bedrock (AgentCore Gateway) or mcp, "
        "which is the default",
    )
    command.add_argument(
        "--agents",
        metavar="A,…",
        action=AddNames,
        help="other agents that a model may name in a search, commas between; may be "
        "repeated; default: none",
    )


def tool_schema(options: argparse.Namespace) -> None:
    """Print the definitions as a JSON array. Raises Rejected: there is no such tool."""
    from varve.integrations.tool_definitions import describe_tools

    described = describe_tools(
        options.tools, options.format, options.agents or ()
    )
    print_result(options, described, [json.dumps(described, indent=2)])
