"""Holds `arena fetch` against oro-sdk's own client, both against one loopback server that serves what the SDK's models say.

    python check_fetch.py ARENA     needs oro-sdk 7.0.2 (pip install --no-deps) with httpx, attrs, python-dateutil

The server's answers are made by the SDK's own models (to_dict), so a field that it does not know cannot slip in. It answers 429,
embargo and expired addresses now and then. The SDK's client fetches the same race; both must have the same attempts. `arena fetch` is
killed ten times and goes on; nothing that was kept is asked for again, and no minute sees more than the rate.
"""

import datetime
import http.server
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
import zlib
from pathlib import Path

from oro_sdk import Client
from oro_sdk.api.public import (get_agent_version_problems, get_agent_version_runs, get_artifact_download_url, get_episode_feedback, get_evaluation_run, get_race_detail)
from oro_sdk.models import (AgentVersionProblemsResponse, AgentVersionPublic, ArtifactDownloadRequest, ArtifactDownloadResponse, ArtifactType, EpisodeFeedback, EvaluationItemRead,
                            EvaluationItemsRead, EvaluationRunDetail, EvaluationRunPublic, InteractionCall, InteractionStep, ProblemPublic,
                            RaceDetailResponse, RacePublic, RaceQualifierPublic, SuitePublic, SuiteWithProblemsResponse)
from oro_sdk.models.evaluation_item_read_item_kind import EvaluationItemReadItemKind as ItemKind
from oro_sdk.models.evaluation_items_read_execution_kind import EvaluationItemsReadExecutionKind as ItemsKind
from oro_sdk.models.evaluation_run_detail_execution_kind import EvaluationRunDetailExecutionKind as RunKind
from oro_sdk.models.interaction_call_args_type_0 import InteractionCallArgsType0 as Args
from oro_sdk.models.problem_public_metadata import ProblemPublicMetadata

NOW = datetime.datetime(2026, 11, 1, tzinfo=datetime.timezone.utc)
RATE = 1200


def uid(*parts):
    return uuid.uuid5(uuid.NAMESPACE_URL, "/".join(map(str, parts)))


RACE, AGENTS, EPISODES = uid("race"), [uid("agent", i) for i in range(4)], 12
LEGACY = AGENTS[3]  # still runs the older contract
RUNS = {uid("run", a, i): a for a in AGENTS for i in range(2)}
EPISODE = {uid("episode", r, i): (r, i) for r in RUNS for i in range(EPISODES) if RUNS[r] != LEGACY}
PROBLEM = {uid("problem", i): i for i in range(EPISODES)}
asked, once, dead = [], {}, set()


def run_public(r, a):
    return EvaluationRunPublic.from_dict({
        "eval_run_id": str(r), "agent_version_id": str(a), "suite_id": 9, "validator_hotkey": "5Validator", "status": "SUCCESS", "claimed_at": NOW.isoformat(),
        "lease_expires_at": NOW.isoformat(), "is_included": True, "validator_score": 0.5, "reasoning_quality": 0.75, "reasoning_coefficient": 0.9563,
        "phase": "RACE", "race_id": str(RACE)})


def detail(r):
    a = RUNS[r]
    legacy = a == LEGACY
    items = [EvaluationItemRead(item_id=str(p), item_kind=ItemKind.LEGACY_PROBLEM, status="SUCCESS", eval_run_id=r, validator_hotkey="5V") for p in PROBLEM] if legacy else [
        EvaluationItemRead(item_id=f"t{i}", item_kind=ItemKind.ENVPACK_EPISODE, status="completed", eval_run_id=r, validator_hotkey="5V", episode_result_id=e)
        for e, (owner, i) in EPISODE.items() if owner == r]
    public = run_public(r, a)
    return EvaluationRunDetail(
        eval_run_id=r, agent_version_id=a, agent_name="n", validator_hotkey="5V", status=public.status, version_number=1, claimed_at=NOW,
        execution_kind=RunKind.LEGACY_SHOPPINGBENCH if legacy else RunKind.ENVPACK,
        items=EvaluationItemsRead(eval_run_id=r, execution_kind=ItemsKind.LEGACY_SHOPPINGBENCH if legacy else ItemsKind.ENVPACK, detail_released=True,
                                  persisted_item_count=len(items), items=items))


def feedback(e):
    r, i = EPISODE[e]
    return EpisodeFeedback.from_dict({
        "episode_result_id": str(e), "task_id": f"t{i}", "family": "ranking", "phase": "RACE", "outcome": "environment_error" if i == 3 else "completed",
        "step_count": 1, "tool_call_count": 1, "search_call_count": 1, "termination_code": "placed_order", "query": f"Wish {i} of \u00e9 {'abcdefghijkl'[i] * 9}",
        "passed": i % 2 == 0, "paid_reward": float(i % 2 == 0),
        "interaction": [InteractionStep(step_index=0, turn=1, calls=[InteractionCall(call_id="c", tool_name="search", args=Args.from_dict({"query": f"q{i}"}))]).to_dict()]})


def problems_of(agent):
    """What the agent's runs were found to be, problem by problem."""
    return AgentVersionProblemsResponse.from_dict({"agent_version_id": str(agent), "suite_id": 9, "problems": [
        {"problem_id": str(p), "category": "Shop", "validator_results": [
            {"eval_run_id": str(r), "validator_hotkey": "5V", "status": "SUCCESS", "score": float(i % 2), "reasoning_score": i / 16, "score_components": {"gt": i % 2, "rule": i / 8}}
            for r, a in RUNS.items() if a == agent]} for p, i in PROBLEM.items()]})


def log_of(run, problem):
    return [{"completion": {"reasoning_content": "", "content": "", "message": {"think": "t", "tool_call": [], "response": "r"}},
             "extra_info": {"step": 1, "query": "Q", "timestamp": 1, "problem_id": str(problem), "run": str(run)}}]


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body, **headers):
        text = json.dumps(body).encode()
        self.send_response(status)
        for k, v in {"Content-Length": str(len(text)), **headers}.items():
            self.send_header(k.replace("_", "-"), v)
        self.end_headers()
        self.wfile.write(text)

    def sometimes(self, key, n):
        """True the first time for every nth thing that is asked for."""
        if key in once or zlib.crc32(str(key).encode()) % n:
            return False
        once[key] = True
        return True

    def answer(self):
        asked.append((time.monotonic(), self.path))
        part = self.path.split("?")[0].strip("/").split("/")
        if part[0] == "store":
            if self.sometimes(self.path, 5):
                return self.reply(403, {})
            return self.reply(200, log_of(part[1], part[2]))
        part = part[2:]
        if self.sometimes(self.path, 7):
            return self.reply(429, {"detail": "slow down", "error_code": "RATE_LIMIT_EXCEEDED"}, Retry_After="1")
        if part[0] == "races":
            qualifiers = [RaceQualifierPublic(agent_version_id=a, qualification_type="SCORED", miner_hotkey=f"5Hot{i}") for i, a in enumerate(AGENTS)]
            return self.reply(200, RaceDetailResponse(race=RacePublic(race_id=RACE, suite_id=9, status="RACE_COMPLETE"), qualifiers=qualifiers).to_dict())
        if part[0] == "agent-versions" and part[2] == "problems":
            return self.reply(200, problems_of(uuid.UUID(part[1])).to_dict())
        if part[0] == "agent-versions":
            return self.reply(200, [run_public(r, a).to_dict() for r, a in RUNS.items() if str(a) == part[1]])
        if part[0] == "evaluation-runs":
            return self.reply(200, detail(uuid.UUID(part[1])).to_dict())
        if part[0] == "episode-results":
            return self.reply(200, feedback(uuid.UUID(part[1])).to_dict())
        if part[0] == "suites":
            problems = [ProblemPublic(problem_id=p, suite_id=9, metadata=ProblemPublicMetadata.from_dict({"query": f"Q{i}", "category": "Product", "reward": {"product_id": "1"}})) for p, i in PROBLEM.items()]
            return self.reply(200, SuiteWithProblemsResponse(suite=SuitePublic(suite_id=9, suite_version=9, is_active=True), problems=problems).to_dict())
        return self.reply(404, {"detail": "no", "error_code": "ARTIFACT_NOT_FOUND"})

    do_GET = answer

    def do_POST(self):
        asked.append((time.monotonic(), self.path))
        ask = ArtifactDownloadRequest.from_dict(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        if PROBLEM[ask.problem_id] == 5:
            return self.reply(403, {"detail": "in flight", "error_code": "RACE_IN_FLIGHT"})
        if PROBLEM[ask.problem_id] == 6:
            return self.reply(404, {"detail": "not yet", "error_code": "ARTIFACT_NOT_RELEASED"})
        url = f"http://127.0.0.1:{self.server.server_port}/store/{ask.eval_run_id}/{ask.problem_id}"
        return self.reply(200, ArtifactDownloadResponse(download_url=url, expires_at=NOW).to_dict())


def by_sdk(base):
    """The race's attempts as the SDK's own client fetches them; it does not try again by itself."""
    client, got = Client(base_url=base), {}

    def ask(module, **kw):
        while True:
            answer = module.sync_detailed(client=client, **kw)
            if answer.status_code != 429:
                return answer.parsed
            time.sleep(0.05)

    for q in ask(get_race_detail, race_id=RACE).qualifiers:
        for run in ask(get_agent_version_runs, agent_version_id=q.agent_version_id):
            for it in ask(get_evaluation_run, eval_run_id=run.eval_run_id).items.items:
                if it.item_kind == ItemKind.ENVPACK_EPISODE:
                    got[f"{run.eval_run_id}/{it.episode_result_id}"] = ask(get_episode_feedback, episode_result_id=it.episode_result_id).to_dict()
                    continue
                body = ArtifactDownloadRequest(artifact_type=ArtifactType.EVAL_PROBLEM_LOGS, agent_version_id=run.agent_version_id, eval_run_id=run.eval_run_id, problem_id=uuid.UUID(it.item_id))
                where = ask(get_artifact_download_url, body=body)
                if isinstance(where, ArtifactDownloadResponse):
                    got[f"{run.eval_run_id}/{it.item_id}"] = log_of(run.eval_run_id, it.item_id)
    return got


def found_by_sdk(base):
    """What validators found of each problem, as the SDK's own client reads it: run, problem, score, reasoning, components."""
    while (answer := get_agent_version_problems.sync_detailed(client=Client(base_url=base), agent_version_id=LEGACY)).status_code == 429:
        time.sleep(0.05)
    return {(str(v.eval_run_id), str(p.problem_id)): {"category": p.category, "score": v.score, "reasoning_score": v.reasoning_score, "score_components": v.score_components.to_dict()}
            for p in answer.parsed.problems for v in p.validator_results}


def main():
    arena = sys.argv[1]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_port}"
    with tempfile.TemporaryDirectory() as tmp:
        command = [arena, "fetch", "--race", str(RACE), "--api", base, "-o", tmp, "--rate", str(RATE)]
        day, kept = Path(tmp) / str(RACE), []
        asked.clear()
        for stop in range(10):  # killed for good, at ten moments
            p = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            time.sleep(0.4 + 0.1 * stop)
            assert p.poll() is None, f"done before kill {stop + 1}"
            p.send_signal(signal.SIGKILL)
            p.wait()
            kept.append((len(asked), {f.stem for f in day.glob("traces/*/*.json") if f.name != "run.json"}))
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(done.stderr.strip().splitlines()[-2])
        times = [t for t, path in asked]
        worst = max(sum(1 for t in times if s <= t < s + 60) for s in times)
        assert worst <= RATE, f"{worst} requests in a minute"
        files = {f"{p.parent.name.removeprefix('run=')}/{p.stem}": json.loads(p.read_text()) for p in day.glob("traces/*/*.json") if p.name != "run.json"}
        for before, names in kept:
            again = [path for _, path in asked[before:] if any(n in path for n in names)]
            assert not again, f"asked for again: {again[:3]}"
        sdk = by_sdk(base)
        assert files == sdk, f"{len(files)} attempts, the SDK has {len(sdk)}; {set(files) ^ set(sdk)}"
        meta = json.loads((day / f"traces/run={next(iter(RUNS))}/run.json").read_text())
        assert (meta["validator_score"], meta["reasoning_quality"], meta["reasoning_coefficient"], meta["is_included"], meta["network"]) == (0.5, 0.75, 0.9563, True, "local"), meta
        found = {(str(r), p): f for r, a in RUNS.items() if a == LEGACY for p, f in json.loads((day / f"traces/run={r}/run.json").read_text())["problem_scores"].items()}
        assert found == found_by_sdk(base) and len(found) == 2 * len(PROBLEM), found
        counts = json.loads((day / "fetch.json").read_text())["counts"]
        assert counts["embargo"] == 2 and counts["not_released"] == 2, counts
        subprocess.run([arena, "filter", str(day), "-o", f"{tmp}/lines.jsonl", "-q"], check=True)
        assert len(Path(f"{tmp}/lines.jsonl").read_text().splitlines()) == len(files)
    print(f"{len(files)} attempts as the SDK's client has them; killed {len(kept)} times with {[len(n) for _, n in kept]} on disk, at most {worst} requests in a minute of {RATE}")


if __name__ == "__main__":
    main()
