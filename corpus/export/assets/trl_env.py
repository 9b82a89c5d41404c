"""The environment of TRL's GRPOTrainer. Run with TRL 1.16.0 and transformers 5.24.0.

    from datasets import load_dataset
    from trl_env import ShopEnv, prepared
    rows = load_dataset("json", data_files="env/train.jsonl", split="train")
    tokenizer = prepared(AutoTokenizer.from_pretrained(MODEL))
    GRPOTrainer(model=MODEL, train_dataset=rows, processing_class=tokenizer, environment_factory=ShopEnv, args=GRPOConfig(
        max_tool_calling_iterations=25, max_completion_length=21504))  # TRL's 512 tokens end an attempt at its first result

Each tool of tools.json is a method, typed and documented as the harness has it. get_reward gives None for a sample that
is masked, by which TRL leaves it out of its group; so give no other reward function. TRL does not hand the completion to
an environment: the reasoning is not judged, so serve with --judge none.

In another domain than the shop, a subclass overrides _outcome to check the episode.
"""
import copy
import inspect
import json
import keyword
import os
import sys
from typing import Optional

from arena_env import TYPES, Episode, Masked, arguments, tools, type_name

HERE = os.path.dirname(os.path.abspath(__file__))


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
            return self._episode.pay(declared=self._outcome())["reward"]
        except Masked as failure:
            self._masked = str(failure)
            return None

    def _outcome(self):
        """The outcome of the episode, 0 to 1, or None if it is unknown. TRL would take a method without _ for a tool."""
        return None

    def _call(self, tool, arguments):
        if self._masked:
            return "Error: the environment failed."
        try:
            return self._episode.call(tool, arguments)
        except Masked as failure:
            self._masked = str(failure)
            return "Error: the environment failed."


def method(definition):
    """A method that calls a tool, with the signature and the docstring that TRL wants."""
    function = definition["function"]
    name, (schemas, required) = function["name"], arguments(function)

    def tool(self, /, **given):  # self may be the name of an argument, too
        return self._call(name, given)

    parameters, lines = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)], []
    for key, value in sorted(schemas.items(), key=lambda item: item[0] not in required):
        if not key.isidentifier() or keyword.iskeyword(key) or key == "self":  # it can be passed, but a signature cannot name it
            continue
        kind, default = TYPES[type_name(value)], inspect.Parameter.empty
        if key not in required:
            kind, default = Optional[kind], value.get("default")
        choices = f" (choices: {json.dumps(value['enum'])})" if "enum" in value else ""
        described = value.get("description")
        text = " ".join(described.split()) if isinstance(described, str) else ""
        lines.append(f"    {key}: {text or key}{choices}")
        tool.__annotations__[key] = kind
        parameters.append(inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    tool.__name__, tool.__signature__ = name, inspect.Signature(parameters)
    tool.__doc__ = (function.get("description") or name) + "\n\nArgs:\n" + "\n".join(lines)
    tool.definition = definition
    return tool


TOOLS = tools()
for one in TOOLS:
    if hasattr(ShopEnv, one["function"]["name"]):
        raise ValueError(f"TRL has a method {one['function']['name']} of its own: rename the tool of the MCP server")
    setattr(ShopEnv, one["function"]["name"], method(one))


def definitions_as_given(derive):
    """Lets transformers show the definitions of tools.json, as they stand, for the methods of ShopEnv.

    By itself it derives them from a signature and a docstring, which have no limits and no defaults, and it cuts a
    description at words such as Returns. derive is its function get_json_schema, replaced in each module that has it.
    """
    def given(function):
        definition = getattr(function, "definition", None)
        return copy.deepcopy(definition) if definition in TOOLS else derive(function)

    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get("get_json_schema") is derive:
            module.get_json_schema = given


class KnownTemplate(str):
    """A chat template that TRL knows by its text. It equals the corpus's too: both write calls alike."""
    __hash__ = str.__hash__

    def __eq__(self, other):
        return str.__eq__(self, other) or str.__eq__(template(), other)

    def __ne__(self, other):
        return not self == other


def template():
    with open(os.path.join(HERE, "..", "chat_template.jinja"), encoding="utf-8") as file:
        return file.read()


try:
    from transformers.utils import chat_template_utils as of_transformers
except ImportError:  # an episode needs neither transformers nor TRL
    of_transformers = None
if of_transformers:
    definitions_as_given(of_transformers.get_json_schema)
try:
    from trl import chat_template_utils as of_trl
except ImportError:
    of_trl = None
if of_trl:
    of_trl.qwen3_chat_template = KnownTemplate(of_trl.qwen3_chat_template)


def prepared(tokenizer):
    """The tokenizer with the chat template of the corpus and the way to read its calls.

    TRL shows the tools in the order of their names. The template here shows them in the order of tools.json, as the rows
    of the corpus and `arena eval` do. The template writes calls as Qwen3 does.
    """
    if of_trl is None:
        raise SystemExit(f"prepared needs TRL, which {sys.executable} lacks: {sys.executable} -m pip install trl==1.16.0")
    tokenizer.chat_template = "{%- set tools = " + json.dumps(TOOLS, ensure_ascii=False) + " %}" + template()
    if hasattr(tokenizer, "response_template"):  # transformers 5.13 and newer
        tokenizer.response_template = of_trl.qwen3_template
    else:
        tokenizer.response_schema = of_trl.qwen3_schema
    return tokenizer
