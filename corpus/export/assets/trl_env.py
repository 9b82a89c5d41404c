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

from arena_env import Episode, Masked

HERE = os.path.dirname(os.path.abspath(__file__))
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


def python_type(schema):
    """The type of a value. Of a union, such as a type and null, it is the first that is not null; str if there is none."""
    names = schema.get("type") or [one.get("type") for one in schema.get("anyOf", schema.get("oneOf", []))]
    for name in [names] if isinstance(names, str) else names:
        if isinstance(name, str) and name in TYPES:
            return TYPES[name]
    return str


def method(function):
    """A method that calls a tool, with the signature and the docstring that TRL makes its schema of."""
    name, schema = function["name"], function.get("parameters") or {}
    required = schema.get("required", [])

    def tool(self, **arguments):
        return self._call(name, arguments)

    parameters, lines = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)], []
    for key, value in sorted(schema.get("properties", {}).items(), key=lambda item: item[0] not in required):
        if not key.isidentifier() or keyword.iskeyword(key):  # it can be passed, but a signature cannot name it
            continue
        kind, default = python_type(value), inspect.Parameter.empty
        if key not in required:
            kind, default = Optional[kind], value.get("default")
        choices = f" (choices: {json.dumps(value['enum'])})" if "enum" in value else ""
        text = " ".join(value.get("description", key).split()) or key
        lines.append(f"    {key}: {text}{choices}")
        tool.__annotations__[key] = kind
        parameters.append(inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind))
    tool.__name__, tool.__signature__ = name, inspect.Signature(parameters)
    tool.__doc__ = (function.get("description") or name) + "\n\nArgs:\n" + "\n".join(lines)
    tool.definition = function
    return tool


with open(os.path.join(HERE, "tools.json"), encoding="utf-8") as file:
    TOOLS = json.load(file)
for definition in TOOLS:
    if hasattr(ShopEnv, definition["function"]["name"]):
        raise ValueError(f"TRL has a method {definition['function']['name']} of its own: rename the tool of the MCP server")
    setattr(ShopEnv, definition["function"]["name"], method(definition["function"]))


def definitions_as_given(utils):
    """Lets transformers show the definitions of tools.json, as they stand, for the methods of ShopEnv.

    By itself it derives them from a signature and a docstring, which have no limits and no defaults, and it cuts a
    description at words such as Returns. utils is the module transformers.utils.chat_template_utils.
    """
    derived, read = utils._convert_type_hints_to_json_schema, utils.parse_google_format_docstring
    described = {}
    for definition in TOOLS:
        function = definition["function"]
        properties = (function.get("parameters") or {}).get("properties", {})
        told = {key: value.get("description", key) for key, value in properties.items()}
        described[inspect.getdoc(getattr(ShopEnv, function["name"])).strip()] = (function.get("description"), told, None)

    def parameters(function):
        given = getattr(function, "definition", {}).get("parameters") or {}
        return copy.deepcopy(given) if "properties" in given else derived(function)

    utils._convert_type_hints_to_json_schema = parameters
    utils.parse_google_format_docstring = lambda text: described.get(text) or read(text)


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
    definitions_as_given(of_transformers)
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
