"""Lint the policies of the template's roles with parliament; see `make policies`.

Usage: python -m tests.support.policies | lint_policies.py
"""

import json
import sys

from parliament import analyze_policy_string


def main() -> int:
    """Print the findings by role; return 1 if there are any."""
    found = 0
    for variant, roles in json.load(sys.stdin).items():
        for role, document in roles.items():
            policy = analyze_policy_string(json.dumps(document))
            for finding in policy.findings:
                print(f"{role} ({variant}): {finding}")
                found += 1
    print(f"{found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
