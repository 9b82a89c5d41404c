"""Writes attempts of programs that are no models, by which the instrument adaptivity is measured.

    arena convert RECORDED --to openai -o recorded.jsonl
    python3 bench/programs.py service|coding recorded.jsonl OUT
    arena domain check DOMAIN.yaml RECORDED OUT --programs 'made-*'

A program plays over recorded results: its call has the result that some recorded attempt had for
it, else an error. A command that no attempt at the task ran has the result of one with the same
longest word, such as a file, or else with the same first word. OUT/made-NAME/ has its attempts, one at each of 60 recorded requests.
"""

import json
import random
import re
import sys
from pathlib import Path

ATTEMPTS = 60
MAX_CALLS = 12
WORD = re.compile(r"[A-Za-z_]{5,}")
FILE = re.compile(r"[\w./-]+\.(?:java|py|md|cfg|toml|xml|txt)\b")
ID = re.compile(r"#?W\d{7}|\b[A-Z0-9]{6}\b|\b\d{10}\b|\b[a-z]+_[a-z]+_\d{4}\b")
OPENERS = [
    (r"#?W\d{7}", "get_order_details", "order_id"),
    (r"\d{10}", "get_product_details", "product_id"),
    (r"[a-z]+_[a-z]+_\d+", "get_user_details", "user_id"),
    (r"[A-Z0-9]{6}", "get_reservation_details", "reservation_id"),
]


class Recorded:
    """One recorded attempt: its system prompt, what its user wrote, its calls and their results."""

    def __init__(self, chat):
        messages = chat["messages"]
        self.system = next((text(m) for m in messages if m["role"] == "system"), "")
        self.calls = []
        said = []
        results = {m["tool_call_id"]: text(m) for m in messages if m["role"] == "tool"}
        has_calls = any(m.get("tool_calls") for m in messages)
        command = None
        for m in messages:
            if m["role"] == "user" and command is None:
                said.append(text(m))
            elif m["role"] == "user":
                self.calls.append(("bash", {"command": command}, text(m)))
                command = None
            if m["role"] != "assistant":
                continue
            for c in m.get("tool_calls") or []:
                name = c["function"]["name"].split("__")[-1]
                try:
                    arguments = json.loads(c["function"]["arguments"])
                except ValueError:
                    continue
                self.calls.append((name, arguments, results.get(c["id"], "")))
            blocks = text(m).split("```")
            if not has_calls and len(blocks) > 2:
                command = blocks[-2].partition("\n")[2].strip()
        self.request = "\n".join(said)
        self.task = chat.get("problem_id") or self.request[:200]


def text(message):
    content = message.get("content") or ""
    return content if isinstance(content, str) else json.dumps(content)


class Play:
    """One attempt of a program."""

    def __init__(self, world, recorded, rng):
        self.world, self.recorded, self.rng = world, recorded, rng
        self.messages = [{"role": "system", "content": recorded.system}] if recorded.system else []
        self.messages.append({"role": "user", "content": recorded.request})
        self.results = []

    def call(self, name, **arguments):
        known = self.world.get(key(self.recorded, name, arguments))
        if known is None and name == "bash":
            known = self.similar(arguments["command"])
        result = known if known is not None else "Error: not found"
        n = f"call_{len(self.results)}"
        function = {"name": name, "arguments": json.dumps(arguments)}
        self.messages.append({"role": "assistant", "content": None, "tool_calls": [{"id": n, "type": "function", "function": function}]})
        self.messages.append({"role": "tool", "tool_call_id": n, "content": result})
        self.results.append(result)
        return result

    def similar(self, command):
        words = command.split() or [""]
        longest = max(words, key=len).split("/")[-1]
        commands = self.commands.get(self.recorded.task, [])
        for test in (lambda c: longest in c, lambda c: c.split()[:1] == words[:1]):
            for recorded, result in commands:
                if test(recorded):
                    return result
        return None

    def sh(self, command):
        return self.call("bash", command=command)

    def open(self, thing):
        for pattern, tool, argument in OPENERS:
            if re.fullmatch(pattern, thing):
                return self.call(tool, **{argument: thing})
        return ""

    def ids(self, where=None):
        return list(dict.fromkeys(ID.findall(self.recorded.request if where is None else where)))

    def files(self, where):
        return list(dict.fromkeys(FILE.findall(where)))


def key(recorded, name, arguments):
    """A command has other results in the container of another task, a call to a service has not."""
    task = recorded.task if name == "bash" else ""
    return task, name, json.dumps(arguments, sort_keys=True)


def replay(p, calls):
    for name, arguments, _ in calls[:30]:
        p.call(name, **arguments)


# The programs of the domain service.


def fixed_plan(p):
    for thing in p.ids()[:1] or ["mia_li_3668"]:
        p.open(thing)
    p.call("calculate", expression="100 - 50")
    p.call("transfer_to_human_agents", summary="The customer needs help with an order.")


def first_found(p):
    shown = "".join(p.open(thing) for thing in p.ids()[:1])
    for thing in [x for x in p.ids(shown) if x not in p.recorded.request][:1]:
        p.open(thing)
    p.call("transfer_to_human_agents", summary="The customer needs help.")


def branch_on_result(p):
    shown = "".join(p.open(thing) for thing in p.ids()[:1])
    if "gold" in shown or "delivered" in shown:
        p.call("list_all_product_types")
    elif "Error" in shown or not shown:
        p.call("transfer_to_human_agents", summary="The customer is not known.")
    else:
        p.call("calculate", expression="20 * 2")
    p.call("think", thought="Done.")


def branch_and_open(p):
    shown = "".join(p.open(thing) for thing in p.ids()[:1])
    found = [x for x in p.ids(shown) if x not in p.recorded.request]
    for thing in found[: 1 + len(shown) % 2]:
        p.open(thing)
    p.call("calculate" if "credit_card" in shown else "think", expression="1 + 1")


def random_tools(p):
    keys = p.rng.sample(sorted(p.world), 6)
    for _, name, arguments in keys:
        p.call(name, **json.loads(arguments))


def random_own(p):
    for _ in range(6):
        name = p.rng.choice([tool for _, tool, _ in OPENERS])
        p.call(name, id=p.rng.choice(p.ids() or ["none"]))


def copy_other(p):
    replay(p, p.other.calls)


def copy_same_task(p):
    replay(p, p.same.calls)


def copy_shuffled(p):
    replay(p, p.rng.sample(p.other.calls, len(p.other.calls)))


def open_all(p):
    seen, todo = set(), p.ids()
    while todo and len(seen) < MAX_CALLS:
        thing = todo.pop(0)
        if thing not in seen:
            seen.add(thing)
            todo += p.ids(p.open(thing))


def open_all_depth(p):
    seen, todo = set(), p.ids()
    while todo and len(seen) < MAX_CALLS // 2:
        thing = todo.pop()
        if thing not in seen:
            seen.add(thing)
            todo += p.ids(p.open(thing))


def keyword(p):
    asked = p.recorded.request.lower()
    for thing in p.ids()[:2]:
        p.open(thing)
    if "cancel" in asked:
        p.call("cancel_pending_order", order_id=(p.ids() or [""])[-1], reason="no longer needed")
    elif "change" in asked or "exchange" in asked:
        p.call("calculate", expression="120 - 100")
        p.call("transfer_to_human_agents", summary="A change is wanted.")
    else:
        p.call("think", thought="Nothing to do.")


def tool_by_length(p):
    shown = "".join(p.open(thing) for thing in p.ids()[:1])
    for _ in range(4):
        tool = [t for _, t, _ in OPENERS][len(shown) % 4]
        shown = p.call(tool, id=(p.ids() or ["none"])[0]) + shown[1:]


# The programs of the domain coding.


def shell_plan(p):
    for command in ["ls -la", "git log --oneline | head -5", "cat README.md", "git status", "git diff", "submit"]:
        p.sh(command)


def shell_grep(p):
    word = (WORD.findall(p.recorded.request) or ["main"])[0]
    shown = p.sh("ls -R") + p.sh(f"grep -rn {word} .")
    for name in p.files(shown)[:1]:
        p.sh(f"cat {name}")
    p.sh("submit")


def shell_branch(p):
    shown = p.sh("ls -la")
    p.sh("cat setup.py" if "setup.py" in shown else "cat pom.xml" if "pom.xml" in shown else "pwd")
    p.sh("git diff" if len(shown) > 900 else "git status")
    p.sh("submit")


def shell_random(p):
    commands = [k for k in p.world if k[0] == p.recorded.task] or sorted(p.world)[:20]
    for _, name, arguments in p.rng.sample(sorted(commands), min(8, len(commands))):
        p.call(name, **json.loads(arguments))


def shell_random_other(p):
    for _, name, arguments in p.rng.sample(p.keys, 8):
        p.call(name, **json.loads(arguments))


def open_files(p):
    todo = p.files(p.sh("ls -R") + p.sh("ls -la"))
    for name in todo[:MAX_CALLS]:
        p.sh(f"cat {name}")


def edit_template(p):
    word = (WORD.findall(p.recorded.request) or ["main"])[0]
    shown = p.sh("ls -la")
    name = (p.files(p.recorded.request) + p.files(shown) + ["main.py"])[0]
    p.sh(f"cat {name}")
    p.sh(f"sed -i 's/{word}/{word}_fixed/' {name}")
    p.sh("git diff")
    p.sh("submit")


def shell_by_length(p):
    shown = p.sh("ls -la")
    for _ in range(5):
        shown = p.sh(["git status", "pwd", "ls", "git log"][len(shown) % 4]) + shown[1:]


def shell_keyword(p):
    asked = p.recorded.request.lower()
    if "exception" in asked:
        commands = ["grep -rn Exception .", "git diff", "submit"]
    elif "test" in asked:
        commands = ["ls tests", "python -m pytest", "git diff", "submit"]
    else:
        commands = ["ls -la", "submit"]
    for command in commands:
        p.sh(command)


PROGRAMS = {
    "service": [
        fixed_plan, first_found, branch_on_result, branch_and_open, random_tools, random_own, copy_other,
        copy_same_task, copy_shuffled, open_all, open_all_depth, keyword, tool_by_length,
    ],
    "coding": [
        shell_plan, shell_grep, shell_branch, shell_random, shell_random_other, copy_other, copy_same_task,
        copy_shuffled, open_files, edit_template, shell_by_length, shell_keyword,
    ],
}


def main(domain, source, out):
    with open(source) as f:
        recorded = [r for r in map(Recorded, map(json.loads, f)) if r.calls and r.request]
    world = {}
    for r in recorded:
        for name, arguments, result in r.calls:
            world.setdefault(key(r, name, arguments), result)
    keys = sorted(world)
    commands = {}
    for task, name, arguments in keys:
        if name == "bash":
            commands.setdefault(task, []).append((json.loads(arguments).get("command") or "", world[task, name, arguments]))
    tasks = list({r.task: r for r in recorded}.values())
    for program in PROGRAMS[domain]:
        name = "made-" + program.__name__.replace("_", "-")
        rng = random.Random(name)
        folder = Path(out, name)
        folder.mkdir(parents=True, exist_ok=True)
        folder.joinpath("run.json").write_text(json.dumps({"agent_version_id": name}))
        with folder.joinpath("attempts.jsonl").open("w") as f:
            for n, r in enumerate(rng.sample(tasks, min(ATTEMPTS, len(tasks)))):
                p = Play(world, r, rng)
                p.keys, p.commands, p.other = keys, commands, rng.choice(recorded)
                p.same = rng.choice([x for x in recorded if x.task == r.task and x is not r] or [r])
                program(p)
                p.messages.append({"role": "assistant", "content": "Done."})
                f.write(json.dumps({"eval_run_id": name, "problem_id": f"{name}-{n}", "reward": 0, "messages": p.messages}) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
