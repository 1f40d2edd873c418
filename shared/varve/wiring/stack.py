"""The functions of a deployed stack, for a program without rights on its data."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from varve.adapters.stack_functions import StackFunctions


def find_functions(stack: str) -> "StackFunctions":
    """Return the functions of a CloudFormation stack, by its name or ARN.

    Raises Misconfigured: there is no such stack, or it is not Varve's; Retryable.
    """
    from varve.adapters.stack_functions import StackFunctions

    functions = StackFunctions(stack)
    _ = functions.names  # a wrong name fails here, not at the first call
    return functions
