"""docs/operate.md has a first step for every alarm of the template."""

from __future__ import annotations

import re

from tests.docs.blocks import ROOT
from tests.support.sam import load_template, of_type


def test_every_alarm_has_a_first_step() -> None:
    template = load_template(ROOT / "template.yaml")
    alarms = set(of_type(template, "AWS::CloudWatch::Alarm"))
    page = (ROOT / "docs" / "operate.md").read_text("utf-8")
    rows = re.findall(
        r"^\| (.*Alarm.*?) \| (\S.*?) \| (\S.*?) \|$", page, re.MULTILINE
    )
    named = {
        name for row in rows for name in re.findall(r"`(\w+Alarm)`", row[0])
    }
    assert named == alarms
