"""Plays episodes by the Environment and verify() of oro-env-runtime 1.0.6 and 2.0.1, and writes them as a validator does.

    python episodes_old.py OUT [N]     OUT/traces/*.json, OUT/ruled.jsonl (the runtime's own verdicts)

A session needs packs that nobody published; an environment and a verifier need a task and a catalogue, both made here.
Families whose tables the runtime reads without a search server are played: constraints, recovery after a stock event, and
preferences. The agents are honest, wrong, over budget, idle, and broken off; every eleventh episode has an error of environment or verifier.
"""

import importlib.metadata
import json
import random
import sys
from pathlib import Path

from oro_env_runtime.catalog import CandidateMeta, Catalog
from oro_env_runtime.environment import Environment
from oro_env_runtime.schema import AcceptanceContract, CandidateRef, EventRule, HardConstraints, TaskSpec
from oro_env_runtime.verify import verify

VERSION = importlib.metadata.version("oro-env-runtime")
FAMILIES = ["constraint_satisfaction", "recovery", "preference_reasoning"]
KINDS = ["honest", "honest", "wrong", "dear", "idle", "broken", "second", "honest", "wrong", "environment", "verifier"]


def shop(number):
    products, candidates = {}, []
    for i in range(8):
        pid, price = f"{number}00{i}", 100.0 + 40 * i
        products[pid] = {"product_id": pid, "title": f"Kettle {i} of {number}", "brand": "Orvane", "category_path": ["Kitchen", "Kettles"],
                         "pricing": {"currency": "PHP", "price": price}, "variants": [], "specification": {"RAM": "16 GB"}, "attributes": {"ram": "16 GB"}}
        for j in range(2):
            candidates.append(CandidateMeta(CandidateRef(product_id=pid, sku=f"{pid}-{j}"), price + j, True, "Orvane", ("Kitchen", "Kettles"), f"size {j}", "PHP"))
    return Catalog(products, candidates)


def task(number, family, catalog):
    refs = [c.ref for c in catalog.all_candidates()]
    gold = [refs[4], refs[6]]
    event = None if family == "constraint_satisfaction" else EventRule(kind="stockout")
    spec = dict(seed=number, family=family, goal_text=f"I want a kettle for the {number}. floor below 330 PHP, in stock", hard=HardConstraints(category="Kettles", budget=330, currency="PHP"), gold_set=gold, event_rule=event, family_payload={"gated_key": "ram", "gated_value": "16gb"},
                acceptance=AcceptanceContract(reference_gold_set=gold, acceptable_keys=[g.key() for g in gold]))
    if VERSION.startswith("2."):
        from oro_env_runtime.grading import Grading, RecoveryGrading

        keys = [r.key() for r in refs]
        spec["grading"] = Grading(
            family=family, gold_keys=[g.key() for g in gold], hard_satisfied={k: True for k in keys},
            event_commitment_keys=[gold[0].key()] if event else None,
            recovery=RecoveryGrading(relaxation_level={k: i % 3 for i, k in enumerate(keys)}) if family == "recovery" else None)
    return TaskSpec(**spec), gold, refs


def play(env, kind, gold, refs, dice):
    """What the agent does, as the calls of a trace."""
    def act(name, **args):
        done.append(({"name": name, "args": args}, env.step({"name": name, "args": args}, solver_turn=len(done) + 1)))
    done = []
    first, second = gold
    if kind in ("wrong", "dear"):
        first = second = refs[0 if kind == "wrong" else 14]
    for _ in range(dice.randrange(1, 4)):
        act("view", product_id=dice.choice(refs).product_id)
    act("view", product_id=first.product_id)
    if kind == "idle":
        return done
    act("add_to_cart", product_id=first.product_id, sku=first.sku)
    if kind == "broken":
        return done
    chosen = first
    if env.applied_event is not None and kind != "second":
        act("inspect_stock", product_id=first.product_id, sku=first.sku)
        act("add_to_cart", product_id=second.product_id, sku=second.sku)
        chosen = second
    act("place_test_order", product_id=chosen.product_id, sku=chosen.sku)
    return done


def trace(session, done):
    turns = []
    for turn, (action, result) in enumerate(done, 1):
        call = f"{session}-turn-{turn}"
        turns.append({"error": None, "latency_ms": 0.5, "request": {"call_id": call, "session_id": session, "turn": turn, "calls": [{"action": action, "call_id": call + "-1"}]},
                      "response": {"call_id": call, "calls": [{"call_id": call + "-1", "observation": {"done": result.done, "error": result.error, "observation": result.observation}}]}})
    return turns


def main():
    out, n = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 99
    (out / "traces").mkdir(parents=True, exist_ok=True)
    dice, major = random.Random(7), VERSION.split(".")[0]
    tools = [{"type": "function", "function": {"name": name, "description": name, "parameters": {"type": "object", "properties": {}}}} for name in ("view", "add_to_cart", "inspect_stock", "place_test_order")]
    with open(out / "ruled.jsonl", "a") as ruled:
        for i in range(n):
            kind, family, session = KINDS[i % 11], FAMILIES[i % 3], f"v{major}s{i:04}"
            catalog = shop(int(major) * 1000 + i)
            spec, gold, refs = task(int(major) * 1000 + i, family, catalog)
            env = Environment(spec, catalog)
            done = play(env, kind, gold, refs, dice)
            ledger = env.ledger.entries()
            verdict = verify(spec, ledger, catalog, reference_count=None, render_budget=None).model_dump(mode="json")
            fault = kind if kind in ("environment", "verifier") else None
            episode = {"evaluation_run_id": f"run-v{major}", "agent_version_id": f"agent-v{major}", "task_id": f"v{major}-{i}", "session_id": session, "pack_sha256": f"{i:064x}", "family": family,
                       "outcome": "agent_error" if kind == "broken" else "environment_error" if fault == "environment" else "verifier_error" if fault == "verifier" else "completed", "terminal_reason": "environment_done" if env.done() else "solver_done",
                       "verdict": None if fault else verdict, "terminal_state_hash": env.state_hash, "step_count": len(done), "wall_seconds": 1.5, "bootstrap": {"policy_view": {"query": spec.goal_text, "tools": tools}},
                       "call_trace": trace(session, done), "ledger": [e.model_dump(mode="json") for e in ledger],
                       "environment_error": fault == "environment", "verifier_error": fault == "verifier", "provenance": {"runtime_version": VERSION}}
            (out / "traces" / f"{session}.json").write_text(json.dumps({"schema_version": "oro.environment_episode.v1", "episode": episode}))
            score = None if fault else 0.0 if kind == "broken" else verdict["paid_reward"]
            ruled.write(json.dumps({"id": f"run-v{major}/v{major}-{i}", "kind": kind, "score": score, "correct": verdict["correct"], "paid_reward": verdict["paid_reward"], "category": None, "flags": [],
                                    "reason": f"{fault}_error" if fault else None}) + "\n")
    print(f"{n} episodes of {VERSION}")


if __name__ == "__main__":
    main()
