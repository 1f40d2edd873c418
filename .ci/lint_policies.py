"""Lint the policies of the template's roles and of policies/ with parliament; see `make policies`.

Usage: python -m tests.support.policies | lint_policies.py
"""

import json
import sys

from parliament import analyze_policy_string
from parliament.finding import Finding

UNKNOWN = {"INVALID_ARN": ":aws:transform/", "RESOURCE_MISMATCH": "athena:"}
"""Texts of findings, by kind, where parliament does not know ARNs that exist."""


def is_known(finding: Finding) -> bool:
    """Return whether parliament knows the ARN that it complains of."""
    missing = UNKNOWN.get(finding.issue)
    told = f"{finding.detail} {finding.location}"
    return missing is None or missing not in told


def main() -> int:
    """Print the findings by role; return 1 if there are any."""
    found = 0
    for variant, roles in json.load(sys.stdin).items():
        for role, document in roles.items():
            policy = analyze_policy_string(json.dumps(document))
            for finding in filter(is_known, policy.findings):
                print(f"{role} ({variant}): {finding}")
                found += 1
    print(f"{found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
