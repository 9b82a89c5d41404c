"""One episode of `arena env serve`, with the standard library alone.

    arena env serve --problems PROBLEMS --catalog CATALOG --corpus CORPUS --listen 127.0.0.1:8090
    export ARENA_ENV=http://127.0.0.1:8090        and ARENA_ENV_TOKEN, if the server has one

A failure of the environment raises Masked, and again whatever is asked of the episode afterwards: the sample must be
left out of the update. It never has a reward.
"""
import json
import os
import urllib.error
import urllib.request

TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


class Masked(Exception):
    """The environment failed: the sample says nothing of the policy."""


class Episode:
    def __init__(self, problem_id, timeout=60):
        self.timeout, self.cookie, self.failure = timeout, None, None
        self.post("seed_session", {"problem_id": problem_id})

    def post(self, path, body):
        if self.failure:
            raise Masked(self.failure)
        headers = {"Content-Type": "application/json", "X-Arena-Failures": "status"}
        if self.cookie:
            headers["Cookie"] = self.cookie
        if os.environ.get("ARENA_ENV_TOKEN"):
            headers["Authorization"] = "Bearer " + os.environ["ARENA_ENV_TOKEN"]
        url = os.environ.get("ARENA_ENV", "http://127.0.0.1:8090") + "/" + path
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as reply:
                self.cookie = (reply.headers.get("Set-Cookie") or self.cookie or "").split(";")[0]
                return reply.read().decode()
        except urllib.error.HTTPError as error:
            self.failure = f"{path}: {error.code} {error.read(500).decode(errors='replace')}"
        except (OSError, ValueError) as error:
            self.failure = f"{path}: {type(error).__name__}: {error}"
        raise Masked(self.failure)

    def call(self, tool, arguments):
        """What the model reads of a tool's answer."""
        return self.post(tool, arguments)

    def pay(self, output=None, declared=None):
        """The verdict, with reward and reward_components. output is that of a Responses object, with the reasoning.

        declared is the outcome, 0 to 1, by a check of your own. The shop ignores it: its rules decide.
        """
        row = {"response": {"output": output}} if output else {}
        if declared is not None:
            row["declared"] = declared
        return json.loads(self.post("verify", row))


def tools():
    """The definitions of tools.json, which the rows of the corpus show."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tools.json"), encoding="utf-8") as file:
        return json.load(file)


def arguments(function):
    """The schema of each argument of a function by name, {} if it says nothing; and the names of those it requires."""
    parameters = function.get("parameters") or {}
    properties = parameters.get("properties") or {}
    return {name: value if isinstance(value, dict) else {} for name, value in properties.items()}, parameters.get("required") or []


def type_name(schema):
    """The type of a value, a key of TYPES. Of a union, such as a type and null, it is the first; string if there is none."""
    union = schema.get("anyOf") or schema.get("oneOf") or []
    names = schema.get("type") or [one.get("type") for one in union if isinstance(one, dict)]
    for name in [names] if isinstance(names, str) else names:
        if isinstance(name, str) and name in TYPES:
            return name
    return "string"
