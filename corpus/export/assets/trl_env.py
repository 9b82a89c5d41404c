"""The environment of TRL's GRPOTrainer. Run with TRL 1.16.0 and transformers 5.23.0.

    from datasets import load_dataset
    from trl_env import ShopEnv
    rows = load_dataset("json", data_files="env/train.jsonl", split="train")
    GRPOTrainer(model=MODEL, train_dataset=rows, environment_factory=ShopEnv, args=GRPOConfig(
        max_tool_calling_iterations=25, max_completion_length=20480))  # TRL's 512 tokens end an attempt at its first result

Each tool of tools.json is a method, typed and documented as the harness has it. get_reward gives None for a sample that
is masked, by which TRL leaves it out of its group; so give no other reward function. TRL does not hand the completion to
an environment: the reasoning is not judged, so serve with --judge none.
"""
import inspect
import json
import os
from typing import Optional

from arena_env import Episode, Masked

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class ShopEnv:
    def __init__(self):
        self._episode, self._masked = None, None

    def reset(self, problem_id=None, **row):
        self._episode, self._masked = None, None
        try:
            self._episode = Episode(problem_id)
        except Masked as failure:
            self._masked = str(failure)

    def get_reward(self):
        if self._masked:
            return None
        try:
            return self._episode.pay()["reward"]
        except Masked as failure:
            self._masked = str(failure)
            return None

    def _call(self, tool, arguments):
        if self._masked:
            return "Error: the environment failed."
        try:
            return self._episode.call(tool, arguments)
        except Masked as failure:
            self._masked = str(failure)
            return "Error: the environment failed."


def method(function):
    """A method that calls a tool, with the signature and the docstring that TRL makes its schema of."""
    name, schema = function["name"], function["parameters"]
    required = schema.get("required", [])

    def tool(self, **arguments):
        return self._call(name, arguments)

    parameters, lines = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)], []
    for key, value in sorted(schema["properties"].items(), key=lambda item: item[0] not in required):
        kind, default = TYPES[value["type"]], inspect.Parameter.empty
        if key not in required:
            kind, default = Optional[kind], value.get("default")
        choices = f" (choices: {json.dumps(value['enum'])})" if "enum" in value else ""
        lines.append(f"    {key}: {value['description']}{choices}")
        tool.__annotations__[key] = kind
        parameters.append(inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    tool.__name__, tool.__signature__ = name, inspect.Signature(parameters)
    tool.__doc__ = function["description"] + "\n\nArgs:\n" + "\n".join(lines)
    return tool


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools.json"), encoding="utf-8") as file:
    for definition in json.load(file):
        setattr(ShopEnv, definition["function"]["name"], method(definition["function"]))
