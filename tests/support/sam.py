"""The template as CloudFormation receives it: loops expanded, then the SAM transform applied.

`python -m tests.support.sam` prints the expanded template for tests/unit/deployed.json.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import boto3
from cfnlint.template import Template as LintedTemplate
from cfnlint.template.transforms import Transform
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
DEPLOYED = Path(__file__).parents[1] / "unit" / "deployed.json"
LANGUAGE_EXTENSIONS = "AWS::LanguageExtensions"
PLACEHOLDER_IMAGE = (
    "123456789012.dkr.ecr.us-east-1.amazonaws.com/varve:placeholder"
)
VARIABLE = re.compile(r"\$\{([A-Za-z0-9:.]+)\}")

Template = dict[str, Any]


def load_template(path: Path | str) -> Template:
    """Return the SAM template with its loops expanded; `!Ref x` becomes `{"Ref": "x"}`."""
    template: Template = yaml_parse(Path(path).read_text(encoding="utf-8"))
    return expand_loops(template)


def expand_loops(template: Template) -> Template:
    """Apply the AWS::LanguageExtensions transform, as cfn-lint implements it.

    CloudFormation applies it before the SAM transform. Mappings that only the loops
    read are gone from the result.
    """
    linted = LintedTemplate(None, copy.deepcopy(template), ["us-east-1"])
    linted.template = (
        template  # cfn-lint sorts the conditions of the one it is given
    )
    matches, expanded = Transform().transforms[LANGUAGE_EXTENSIONS](linted)
    if matches:
        raise ValueError(f"the template's loops cannot be expanded: {matches}")
    result: Template = _fold_constants(expanded)
    transforms = [
        it for it in result["Transform"] if it != LANGUAGE_EXTENSIONS
    ]
    (result["Transform"],) = transforms
    if "Fn::FindInMap" not in json.dumps(result):
        result.pop("Mappings", None)
    return result


def _fold_constants(value: Any) -> Any:
    """Put the constant variables of every Fn::Sub into its text, as CloudFormation does."""
    if isinstance(value, list):
        return [_fold_constants(each) for each in value]
    if not isinstance(value, dict):
        return value
    folded = {key: _fold_constants(each) for key, each in value.items()}
    match folded:
        case {"Fn::Sub": [str(text), dict(variables)]}:
            return _substitute(text, variables)
        case _:
            return folded


def _substitute(text: str, variables: Mapping[str, Any]) -> Any:
    for name, value in variables.items():
        if not isinstance(value, str):
            raise ValueError(
                f"the variable {name} of {text!r} is not constant"
            )
        text = text.replace(f"${{{name}}}", value)
    if VARIABLE.search(text):
        return {"Fn::Sub": text}
    return text


def translate(
    template: Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
    region: str = "us-east-1",
) -> Template:
    """Return the CloudFormation template that SAM makes of a loaded template.

    A placeholder stands for the image, which is not built yet. `parameters` override
    the template's defaults where SAM reads them during the expansion. They stay
    parameters of the result, so the caller that creates the stack passes them again.
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
    """Return the functions by logical id, of a SAM template or of a translated one."""
    types = ("AWS::Serverless::Function", "AWS::Lambda::Function")
    return {
        name: it
        for name, it in template["Resources"].items()
        if it["Type"] in types
    }


def of_type(
    template: Mapping[str, Any], type_name: str
) -> dict[str, dict[str, Any]]:
    """Return the properties of every resource of one type, by logical id."""
    return {
        name: it.get("Properties", {})
        for name, it in template["Resources"].items()
        if it["Type"] == type_name
    }


def print_deployed(stack: Template) -> str:
    """Return the expanded template as JSON, one line per resource, output or parameter."""
    sections = {}
    for section, content in stack.items():
        text = json.dumps(content)
        if isinstance(content, dict):
            rows = {
                key: json.dumps(row, sort_keys=True)
                for key, row in content.items()
            }
            text = _join_lines(rows)
        sections[section] = text
    return _join_lines(sections) + "\n"


def _join_lines(values: Mapping[str, str]) -> str:
    lines = [f'"{key}": {values[key]}' for key in sorted(values)]
    return "{\n" + ",\n".join(lines) + "\n}"


if __name__ == "__main__":
    print(print_deployed(translate(load_template(TEMPLATE))), end="")
