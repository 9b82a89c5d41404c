"""A small shop and one day of attempts at it, made on the spot: python world.py FOLDER ARENA SEED SHOPS.

Every problem asks for one product by kind, maker and shop; a shop has three of each kind. Agents let a model
decide: its replies name the calls, and it names the product before it recommends it. Programs make the same
calls by themselves and log what they did. Both choose wrongly now and then. Everything follows from
the seed, and what the tools answer is the shop's own (arena shop call).
"""
import hashlib
import json
import random
import subprocess
import sys
from pathlib import Path

KINDS = (
    "lamp clock chair table shelf mirror carpet curtain pillow blanket kettle toaster teapot saucepan ladle whisk grater colander apron mug "
    "bottle thermos lantern tent hammock backpack compass whistle helmet bicycle kayak paddle racket skateboard frisbee dumbbell trampoline "
    "guitar violin flute drum trumpet piano harmonica pencil stapler notebook envelope ruler globe easel telescope microscope camera tripod "
    "radio printer keyboard headset charger umbrella raincoat scarf sweater sandal wallet suitcase necklace bracelet hammer wrench ladder "
    "shovel rake wheelbarrow birdhouse aquarium leash kennel saddle"
).split()
SHOPS = [str(n) for n in range(11, 35)]
MAKERS = (
    "tisaigi mori brelane kovado stezo purelu daibra neozo lubrino faika rotra zimedu "
    "astora belvin corda drisko elvane fontaro grimal hestia ivolen jorund kespar lomira"
).split()
WHO = (
    "aunt uncle nephew niece cousin neighbour colleague teacher dentist baker gardener plumber librarian goalkeeper pianist sailor nurse "
    "painter electrician beekeeper tailor cyclist blacksmith grandmother grandfather roommate landlord editor drummer chemist"
).split()
DOES = (
    "moves to Lisbon next Tuesday, retires after forty years, collects antique postcards, never sleeps before midnight, finally passed the exam, "
    "lives beside a noisy railway, keeps seven sheep, cannot stand plastic, rows every weekend, broke an ankle skiing, "
    "opens a bakery in spring, paints old ships, lost everything in a flood, turns ninety on Sunday, studies volcanoes abroad, "
    "restores wooden boats, walks barefoot all summer, hosts chess evenings, grows giant pumpkins, drives a yellow taxi, "
    "writes crime novels, forgets every birthday, climbs steep towers, speaks five languages, cooks for twenty guests, "
    "repairs broken violins, lives without electricity, adopted three puppies, sings in a choir, films wild geese"
).split(", ")
ASKS = ("Please find a {kind} by {maker} in shop {shop}.", "I want a {kind} by {maker} from shop {shop}.", "A {kind} by {maker}, please, sold by shop {shop}.")
EACH = 3  # products of a kind in a shop
SKILL = 0.9  # how often agents and programs choose rightly
START = 1780272000000  # 1 June 2026, in milliseconds


def hashed(*of: object) -> str:
    return hashlib.sha256(repr(of).encode()).hexdigest()


def call(tool: str, **arguments: str) -> dict:
    return {"name": tool, "parameters": arguments}


def search(g: dict) -> dict:
    return call("find_product", q=" " + g["kind"], shop_id=g["shop"])


class Shop:
    """The shop: three products of a kind, each by another maker, so that kind and maker tell them apart."""
    agents, programs = 2, 3
    noise = ("step 1: look up", "step 2: candidate chosen", "step 3: end")  # what programs log

    def goods(self, dice: random.Random, shops: list[str]) -> list[dict]:
        ids = dice.sample(range(1000, 10000), EACH * len(KINDS) * len(shops))
        found = [{"id": str(ids.pop()), "kind": k, "shop": s, "maker": m} for k in KINDS for s in shops for m in dice.sample(MAKERS, EACH)]
        dice.shuffle(found)
        return found

    def document(self, g: dict) -> dict:
        return {"product_id": g["id"], "shop_id": g["shop"], "title": f"{g['kind']} {g['maker']}{g['id']}", "price": 9, "service": [], "sold_count": 1,
                "short_description": "", "description": "", "attributes": {"brand": [g["maker"]]}, "sku_options": {}}

    def query(self, g: dict, dice: random.Random) -> str:
        return dice.choice(ASKS).format(**g)

    def problem(self, g: dict, dice: random.Random) -> dict:
        query = self.query(g, dice) + f" My {dice.choice(WHO)} {dice.choice(DOES)}."
        document = self.document(g)
        reward = {"product_id": g["id"], "title": [document["title"]], "attributes": [{name: values} for name, values in document["attributes"].items()]}
        return {"query": query, "category": "Product", "problem_id": hashed("problem", g["id"])[:32], "reward": reward}

    def choice(self, g: dict, taken: dict, found: list[dict], agent: int) -> str:
        """What the agent of this number thinks before it recommends what it takes."""
        return f"I take {self.document(taken)['title']}."

    def attempt(self, g: dict, found: list[dict], n: int, dice: random.Random) -> list[tuple[str, dict]]:
        """The thought and the call of every step, by the agent or program of number n."""
        right = dice.random() < SKILL
        taken = g if right else dice.choice([f for f in found if f is not g])
        thoughts = self.noise
        if n < self.agents:
            thoughts = (f"I search shop {g['shop']} for a {g['kind']}.", self.choice(g, taken, found, n), "Done.")
        return list(zip(thoughts, (search(g), call("recommend_product", product_ids=taken["id"]), call("terminate", status="success"))))


def envelope(task: dict, steps: list[tuple[str, dict]], answers: dict, agentic: bool, now: int, dice: random.Random) -> dict:
    """An attempt as the sandbox logs it: what the proxy saw is filed under the step before."""
    dialogue, seen = [], [[] for _ in steps]
    for i, (thought, made) in enumerate(steps):
        before = seen[max(0, i - 1)]
        if agentic:
            size = (len(thought) + len(key(made))) // 4
            took = 600 + size * dice.randint(20, 40)
            now += took
            function = {"name": made["name"], "arguments": json.dumps(made["parameters"])}
            message = {"role": "assistant", "content": thought, "tool_calls": [{"id": hashed(function)[:8], "type": "function", "function": function}]}
            reply = {"object": "chat.completion", "model": "teacher", "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
                     "usage": {"prompt_tokens": 900, "completion_tokens": size}}
            before.append(record("POST", "/inference/chat/completions", now, took, response=reply, json_data={"model": "teacher"}))
        if made["name"] == "find_product":
            now += 90
            before.append(record("GET", "/search/find_product", now, 90, params=made["parameters"], response=answers[key(made)], nonce_status="valid" if agentic else "missing"))
        now += 5
        logged = {**made, "tool_call_id": hashed(made)[:8], "result": answers[key(made)]}
        text = f"<think>{thought}</think>\n<tool_call>{json.dumps([made])}</tool_call>"
        dialogue.append({"completion": {"reasoning_content": "", "content": text, "message": {"think": thought, "tool_call": [logged]}},
                         "extra_info": {"step": i + 1, "query": task["query"], "timestamp": now, "problem_id": task["problem_id"], "proxy_calls": seen[i]}})
    return {"problem_id": task["problem_id"], "status": "SUCCESS", "execution_time": 9.0, "inference_failure_count": 0,
            "inference_total": len(steps) * agentic, "error": None, "dialogue": dialogue}


def record(method: str, path: str, at: int, took: int, **more: object) -> dict:
    return {"kind": "summary", "method": method, "path": path, "timestamp": at, "duration_ms": took, "status_code": 200, **more}


def key(made: dict) -> str:
    return json.dumps([made["name"], made["parameters"]])


def answered(folder: Path, arena: str, calls: list[dict]) -> dict:
    """What the shop answers to each call."""
    asked = {key(c): c for c in calls}
    write(folder / "calls.jsonl", [{"id": k, "tool": c["name"], "arguments": c["parameters"]} for k, c in asked.items()])
    subprocess.run([arena, "shop", "call", folder / "calls.jsonl", "--catalog", folder / "catalog.jsonl", "-o", folder / "answers.jsonl"], check=True)
    with open(folder / "answers.jsonl", encoding="utf-8") as lines:
        return {a["id"]: a["result"] for a in map(json.loads, lines)}


def write(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")


def make(folder: Path, arena: str, seed: int, shops: int, shop: Shop) -> None:
    dice = random.Random(seed)
    all_goods = shop.goods(dice, SHOPS[:shops])
    tasks = [shop.problem(g, dice) for g in all_goods]
    unwanted = {"id": "999", "kind": "voucher", "shop": "10", "maker": MAKERS[0], "colour": "grey", "price": 9}  # the policy wants one that nobody asks for
    write(folder / "catalog.jsonl", [shop.document(g) for g in [*all_goods, unwanted]])
    write(folder / "problems.jsonl", tasks)
    by_id = {g["id"]: g for g in all_goods}
    needed = [search(g) for g in all_goods] + [call("recommend_product", product_ids=i) for i in by_id] + [call("terminate", status="success")]
    answers = answered(folder, arena, needed)
    found = [[by_id[f["product_id"]] for f in answers[key(search(g))]] for g in all_goods]
    for n in range(shop.agents + shop.programs):
        agentic, run = n < shop.agents, f"run-{n}"
        day = START + n * 60_000
        write(folder / f"traces/run={run}/run.json", [{"eval_run_id": run, "agent_version_id": f"version-{n}", "miner_hotkey": "5" + hashed("agent", n)[:47],
                                                       "suite_version": "v3", "started_at": "2026-06-01T00:00:00Z"}])
        lines = [envelope(t, shop.attempt(g, f, n, dice), answers, agentic, day + i * 20_000, dice) for i, (t, g, f) in enumerate(zip(tasks, all_goods, found))]
        write(folder / f"traces/run={run}/output.jsonl", lines)


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2], *map(int, sys.argv[3:]), Shop())
