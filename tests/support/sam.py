"""The template as CloudFormation receives it: read with its short tags, then expanded by SAM itself."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

PLACEHOLDER_IMAGE = "123456789012.dkr.ecr.us-east-1.amazonaws.com/varve:placeholder"

Template = dict[str, Any]


def load_template(path: Path | str) -> Template:
    """The SAM template; `!Ref x` and its like become `{"Ref": "x"}`."""
    template: Template = yaml_parse(Path(path).read_text(encoding="utf-8"))
    return template


def translate(
    template: Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
    region: str = "us-east-1",
) -> Template:
    """The CloudFormation template that SAM makes of it, images standing in for those not built yet.

    `parameters` override the template's defaults where SAM looks at them while it expands; they stay
    parameters of the result, so whoever creates the stack passes them again.
    """
    prepared = copy.deepcopy(dict(template))
    for function in functions(prepared).values():
        function.pop("Metadata", None)
        function["Properties"].setdefault("ImageUri", PLACEHOLDER_IMAGE)
    # No managed policies: a template that needs one fails here, as it should.
    translator = Translator(
        {}, Parser(), boto_session=boto3.Session(region_name=region)
    )
    expanded: Template = translator.translate(prepared, dict(parameters or {}))
    return expanded


def functions(template: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The functions by logical id, of a SAM template or of a translated one."""
    kinds = ("AWS::Serverless::Function", "AWS::Lambda::Function")
    return {
        name: it for name, it in template["Resources"].items() if it["Type"] in kinds
    }


def of_type(template: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """The properties of every resource of one CloudFormation type, by logical id."""
    return {
        name: it.get("Properties", {})
        for name, it in template["Resources"].items()
        if it["Type"] == kind
    }
