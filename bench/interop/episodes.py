"""Plays episodes in oro-env-runtime 4.0.1 in packs made and signed here, and writes them as traces with what the runtime ruled.

    python episodes.py OUT [N]     OUT/traces/*.json, OUT/ruled.jsonl (the runtime's own verdicts), N >= 200 episodes

Each pack is a small shop with a world event (a price that rises), a shopper who answers once, and an order or a decline. The
agents are honest, wrong, declining, idle (the limit), stopped, bound (a tool that never ends), hit by a fault of the
environment (its worker is killed once), and graded by a grader that gives no grade (a world error).
"""

import base64
import importlib.metadata
import json
import random
import sys
import tempfile
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from oro_env_runtime import PACK_FORMAT, RUNTIME_CONTRACT, canonical
from oro_env_runtime.pack import load_pack, signed_bytes
from oro_env_runtime.session import Session, grade_episode

CODE = """
def start(task):
    state_set("budget", task["params"]["budget"])
    state_set("risen", False)
    return {"welcome": "shop open", "currency": "PHP"}

def turn():
    if counters()["turn"] == 3 and not state_get("risen"):
        state_set("risen", True)
        ledger_append({"kind": "price_rise", "listing": "p1", "to": 470.5})

def price(id):
    p = catalog_get(id)
    if p == None:
        return None
    return 470.5 if id == "p1" and state_get("risen") else p["price"]

def call(handler, args):
    if handler == "view":
        p = catalog_get(args["id"])
        return {"error": "unknown_product"} if p == None else {"id": p["id"], "title": p["title"], "price": price(args["id"])}
    if handler == "ask":
        return {"shopper": send_message(args["text"])}
    if handler == "loop":
        x = 0
        for i in range(1000000000):
            x += i
        return x
    if handler == "order":
        basket_set(args["id"], 1)
        request_order([{"id": args["id"], "quantity": 1}])
        return {"ordered": args["id"]}
    request_decline()
    return {"declined": True}

def message(text):
    return "The budget is firm. \\u00e9\\u2028 <ok>"

def can_finish(order):
    return {"ok": True, "observation": None}

def grade(records, answer):
    if answer.get("broken"):
        return {"score": 7, "category": "no such category"}
    last = records[-1]
    if last["reason"] == "limit" or last["reason"] == "stopped":
        return {"score": 0, "category": "did not finish"}
    if last["order"]["kind"] == "decline":
        return {"score": 1.0, "category": None} if answer["id"] == None else {"score": 0.0, "category": "needs not found"}
    if last["order"]["lines"][0]["id"] == answer["id"]:
        return {"score": 1, "category": None}
    return {"score": 0.25, "category": "not the best option"}
"""

def obj(**props):
    return {"type": "object", "properties": {k: {"type": v} for k, v in props.items()}, "required": list(props), "additionalProperties": False}


TOOLS = [
    {"name": "view", "handler": "view", "description": "View one product.", "parameters": obj(id="string")},
    {"name": "message_shopper", "handler": "ask", "description": "Ask the shopper.", "parameters": obj(text="string")},
    {"name": "compare_all", "handler": "loop", "description": "Compare everything.", "parameters": obj()},
    {"name": "place_order", "handler": "order", "description": "Order one product.", "parameters": obj(id="string")},
    {"name": "decline", "handler": "decline", "description": "Decline the request.", "parameters": obj(reason="string")},
]
THINGS = "kettle lamp drill tent guitar blender scooter pillow router telescope easel saddle".split()
WISHES = "before the wedding on Sunday|that my grandmother can lift with one hand|for a flat without a lift|to go with a green sofa|my cat must not break it|because the old one burnt last night|for a class of thirty children|that runs on solar power|as thanks to a neighbour|for rainy camping in the hills|small enough for a bicycle bag".split("|")
KINDS = ["honest", "honest", "wrong", "declines", "right_decline", "idle", "stopped", "bound", "environment", "world", "unknown_tool"]


def make_pack(root: Path, number: int, key: Ed25519PrivateKey):
    files = {"world/code/main.star": CODE.encode(), "world/tools.json": canonical.dumps({"tools": TOOLS})}
    listings = [{"id": f"p{i}", "title": f"Kettle {i} of world {number}", "price": 100.0 + 55.5 * i} for i in range(6)]
    files["world/catalog.jsonl"] = b"".join(canonical.dumps(x) + b"\n" for x in listings)
    for i, kind in enumerate(KINDS):
        task_id = f"w{number}-t{i}"
        body = {"task_id": task_id, "request_text": f"I want a {THINGS[(number + i) % 12]} {WISHES[i]}, under {300 + 17 * i + number} pesos; it must be number {i % 6}",
                "params": {"budget": 400 + i}, "family": ["recovery", "ranking", "retrieval_recall"][i % 3]}
        body["sha256"] = canonical.digest(body)
        files[f"tasks/{task_id}.json"] = canonical.dumps(body)
        answer = {"id": None if kind == "right_decline" else f"p{i % 6}"}
        if kind == "world":
            answer["broken"] = True
        files[f"answers/{task_id}.json"] = canonical.dumps({"task_id": task_id, "answer": answer})
    manifest = {
        "pack_format": PACK_FORMAT, "runtime_contract": RUNTIME_CONTRACT, "pack_id": f"pack-{number}", "world_id": f"world-{number}", "delivery": "local",
        "limits": {"call_ticks": 20000, "grade_ticks": 20000, "max_callstack": 50, "max_steps": 8, "max_turns": 20, "max_arg_bytes": 2000},
        "sandbox": {"version": importlib.metadata.version("starlark-pyo3")},
        "parts": {name: canonical.sha256_hex(data) for name, data in files.items()},
    }
    manifest["signature"] = {"key_id": "own", "algorithm": "ed25519", "value": ""}
    manifest["signature"]["value"] = base64.b64encode(key.sign(signed_bytes(manifest))).decode()
    files["manifest.json"] = canonical.dumps(manifest)
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return load_pack(root, {"own": key.public_key()})


def play(session: Session, kind: str, dice: random.Random):
    """What the agent does, until the episode has finished."""
    wanted = "p" + session.request_text.split("number ")[1][0]
    if kind == "unknown_tool":
        session.step("teleport", {"to": "shop"})
        session.step("view", {"id": 7})
    for _ in range(dice.randrange(1, 3)):
        session.step("view", {"id": f"p{dice.randrange(6)}"})
    session.step("message_shopper", {"text": f"Is {dice.random():.3f} fine? \u00e9 \U0001F600 <b>&"})
    if kind == "environment":
        session.box.proc.kill()
        session.box.proc.wait()
        session.step("view", {"id": "p0"})
    elif kind == "bound":
        session.step("compare_all", {})
    elif kind == "idle":
        while not session.finished:
            session.step("view", {"id": "p0"})
    elif kind == "stopped":
        session.finish()
    elif kind in ("declines", "right_decline"):
        session.step("decline", {"reason": "nothing fits"})
    else:
        session.step("view", {"id": wanted})
        session.step("place_order", {"id": "p5" if kind == "wrong" and wanted != "p5" else wanted})


def reader(service, request):
    return {"ok": False, "error": "error"}


def sent(session: Session, agent: str, ledger, verdict):
    """The episode as a ledger with its verdict, and what the session knew beside them."""
    openai = [{"type": "function", "function": {k: t[k] for k in ("name", "description", "parameters")}} for t in TOOLS]
    return {"ledger": ledger, "verdict": verdict, "query": session.request_text, "tools": openai, "family": session.task["family"],
            "agent_version_id": agent, "evaluation_run_id": f"run-{agent}"}


def main():
    out, n = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 220
    if not 1 <= n <= 2000:
        sys.exit("N is 1 to 2000")
    (out / "traces").mkdir(parents=True, exist_ok=True)
    dice = random.Random(7)
    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    assert key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    played = 0
    with tempfile.TemporaryDirectory() as tmp, open(out / "ruled.jsonl", "w") as ruled:
        while played < n:
            number = played // (2 * len(KINDS))
            pack = make_pack(Path(tmp) / str(number), number, key)
            for agent in ("a", "b"):
                for i, kind in enumerate(KINDS):
                    session = Session(pack, f"w{number}-t{i}", f"nonce-{agent}-{number}-{i}", reader)
                    play(session, kind, dice)
                    ledger = session.ledger()
                    verdict = grade_episode(pack, ledger, reader)
                    doc = sent(session, agent, ledger, verdict)
                    (out / "traces" / f"{agent}-{number}-{i:02}.json").write_text(json.dumps(doc, indent=1 if played % 2 else None, ensure_ascii=bool(played % 3)))
                    ruled.write(json.dumps({"id": f"run-{agent}/w{number}-t{i}", "kind": kind, **verdict}) + "\n")
                    played += 1
    print(f"{played} episodes")


if __name__ == "__main__":
    main()
