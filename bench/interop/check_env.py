"""Plays episodes of a running `arena env serve` by the files of `arena export --profile env`.

    check_env.py ARENA EXPORT PROBLEMS CATALOG [--trl] [--door NAME=PYTHON…]

The same scripted student plays 200 episodes by the routes, by trl_env.ShopEnv and by the doors of check_doors.py, each in
the Python that has its trainer: same observations byte for byte, same reward. Then the server is killed in the middle
(SIGKILL, SIGSTOP): every touched sample is masked, none is paid. --trl lets TRL's own GRPOTrainer make updates on a tiny
model with the environment, and kills, stops and fills the disk of the server in the middle of one.
"""
import atexit
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading


def served(arena, problems, catalog, *more, address="127.0.0.1:0"):
    command = [arena, "env", "serve", "--problems", problems, "--catalog", catalog, "--unguarded", "--judge", "none", "--listen", address, *more]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if found := re.search(r" on (http://\S+)", line):
            threading.Thread(target=server.stderr.read, daemon=True).start()
            return server, found[1]
    sys.exit("the server did not start")


def script(problem, n):
    """What the student does in episode n: it is right in every other one, and calls wrongly, too."""
    rewards = problem["reward"] if isinstance(problem["reward"], list) else [problem["reward"]]
    ids = ",".join(str(r["product_id"]) for r in rewards)
    words = " ".join(problem["query"].split()[: 3 + n % 7])
    return [("find_product", {"q": words, "page": 1 + n % 3}), ("view_product_information", {"product_ids": ids if n % 5 else "1,é"}),
            ("find_product", {"page": 1}), ("calculate_voucher", {"product_prices": "100,50.5", "voucher_type": "fixed", "discount_value": 10.0, "threshold": 20}),
            ("recommend_product", {"product_ids": ids if n % 2 == 0 else "1"}), ("terminate", {"status": "success"})]


def episodes(tasks, export):
    """200 episodes over the problems, each with a row as NeMo-Gym has it."""
    with open(os.path.join(export, "env", "train.jsonl"), encoding="utf-8") as file:
        tools = json.loads(file.readline())["responses_create_params"]["tools"]
    for n in range(200):
        task = tasks[n % len(tasks)]
        params = {"input": [{"role": "user", "content": task["query"]}], "tools": tools, "parallel_tool_calls": True}
        yield {"problem_id": task["problem_id"], "row": {"problem_id": task["problem_id"], "responses_create_params": params}, "moves": script(task, n)}


def compared(export, doors, played, wanted):
    """Plays the episodes by the doors and holds what was heard and paid against wanted."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/episodes.json", "w", encoding="utf-8") as file:
            json.dump(played, file)
        for door in doors:
            name, python = door.split("=", 1)
            subprocess.run([python, here + "/check_doors.py", name, export, folder + "/episodes.json", folder + "/results.json"], check=True)
            with open(folder + "/results.json", encoding="utf-8") as file:
                results = json.load(file)
            assert len(results) == len(wanted), (name, len(results))
            for n, (got, want) in enumerate(zip(results, wanted)):
                assert got["heard"] == want["heard"], f"{name}, episode {n}: heard\n{got['heard']}\nby the routes\n{want['heard']}"
                assert got["reward"] == want["reward"], f"{name}, episode {n}: paid {got['reward']}, by the routes {want['reward']}"
            print(f"{name}: {len(results)} episodes, same observations, same reward")


def main():
    arena, export, problems, catalog = sys.argv[1:5]
    sys.path.insert(0, os.path.join(export, "env"))
    from arena_env import Episode, Masked
    from trl_env import ShopEnv

    with open(problems, encoding="utf-8") as file:
        tasks = [json.loads(line) for line in file]
    server, os.environ["ARENA_ENV"] = served(arena, problems, catalog, "--reward", "dense")
    atexit.register(lambda: server.kill())
    shop, wanted, solved = ShopEnv(), [], 0
    played = list(episodes(tasks, export))
    for e in played:
        episode = Episode(e["problem_id"])
        shop.reset(problem_id=e["problem_id"])
        heard = [episode.call(tool, arguments) for tool, arguments in e["moves"]]
        for (tool, arguments), want in zip(e["moves"], heard):
            got = getattr(shop, tool)(**arguments)
            assert want == got, f"{tool} is answered {got!r} and {want!r}"
        verdict, got = episode.pay(), shop.get_reward()
        assert verdict["reward"] == got == sum(verdict["reward_components"].values()), (verdict, got)
        wanted.append({"heard": heard, "reward": got})
        solved += verdict["success"]
    print(f"{len(played)} episodes twice: same observations, same reward; {solved} solved, {len({w['reward'] for w in wanted})} rewards")
    assert 0 < solved < len(played)
    compared(export, [a for at, a in enumerate(sys.argv) if sys.argv[at - 1] == "--door"], played, wanted)

    begun = [Episode(t["problem_id"]) for t in tasks[:8]]
    shops = [ShopEnv() for _ in range(8)]
    for s, t in zip(shops, tasks):
        s.reset(**t)
        s.find_product(q="lamp")
    server.send_signal(signal.SIGSTOP)
    os.waitpid(server.pid, os.WUNTRACED)
    begun[0].timeout = 1
    masked = 0
    for episode in begun[:1]:
        try:
            episode.call("find_product", {"q": "lamp"})
        except Masked:
            masked += 1
    server.send_signal(signal.SIGCONT)
    server.kill()
    server.wait()
    for episode in begun[1:]:
        try:
            episode.pay()
        except Masked:
            masked += 1
    none = [s.get_reward() for s in shops]
    assert masked == 8 and none == [None] * 8, (masked, none)
    address = os.environ["ARENA_ENV"].removeprefix("http://")
    server, _ = served(arena, problems, catalog, address=address)  # a restart: old episodes are masked, new ones go on
    assert ShopEnv.get_reward(shops[0]) is None
    try:
        begun[2].pay()
        raise SystemExit("an episode of before the restart was paid")
    except Masked:
        pass
    shops[0].reset(**tasks[0])
    assert shops[0].get_reward() == 0.0
    print("killed, stopped, restarted: 16 of 16 touched samples masked, none paid, the next one goes on")
    if "--trl" in sys.argv:
        server.kill()
        server.wait()
        with tempfile.TemporaryDirectory() as record:
            updates(Shop(arena, problems, catalog, address, record), export, problems)
    else:
        server.kill()
        server.wait()


class Shop:
    """A server that fails in the middle of an update and is well again before the next."""

    def __init__(self, arena, problems, catalog, address, record):
        self.started = arena, problems, catalog, "--record", record
        self.address, self.heal = address, None
        self.start()
        atexit.register(lambda: self.server.kill())

    def start(self):
        self.server, _ = served(*self.started, address=self.address)

    def kill(self):
        self.server.kill()
        self.server.wait()
        self.heal = self.start

    def stop(self):
        self.server.send_signal(signal.SIGSTOP)
        self.heal = lambda: self.server.send_signal(signal.SIGCONT)

    def fill(self):
        """No byte more can be written to any file."""
        limits = resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE, (0, limits[1]))
        self.heal = lambda: resource.prlimit(self.server.pid, resource.RLIMIT_FSIZE, limits)


def updates(server, export, problems):
    """Five updates of GRPO on a model written down by hand, which looks for, recommends and ends at random: the product
    that it knows is the one that the only problem of the run asks for. In the middle of the second the server is killed,
    in the third stopped, in the fourth its disk is full."""
    import arena_env
    import torch
    import trl
    from datasets import load_dataset
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer
    from trl_env import ShopEnv

    group, paid, called = 4, [], [0]
    failures = {1: server.kill, 2: server.stop, 3: server.fill}
    arena_env.Episode.__init__.__defaults__ = (3,)  # seconds until a server that is stopped counts as dead

    class Watched(ShopEnv):
        def reset(self, **row):
            if server.heal and len(paid) % group == 0:
                server.heal()
                server.heal, called[0] = None, 0
            super().reset(**row)

        def _call(self, tool, arguments):
            called[0] += 1
            if called[0] == 3 and len(paid) // group in failures:
                failures.pop(len(paid) // group)()
            return super()._call(tool, arguments)

        def get_reward(self):
            reward = super().get_reward()
            paid.append((reward, self._masked))
            if len(paid) % group == 0:
                called[0] = 0
            return reward

    with open(problems, encoding="utf-8") as file:
        golds = {t["problem_id"]: t["reward"] for t in map(json.loads, file) if isinstance(t["reward"], dict)}
    rows = load_dataset("json", data_files=os.path.join(export, "env", "train.jsonl"), split="train")
    rows = rows.filter(lambda row: row["problem_id"] in golds).select(range(1))
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/catalog.jsonl", "w", encoding="utf-8") as file:
            json.dump({"product_id": golds[rows[0]["problem_id"]]["product_id"]}, file)
        here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        subprocess.run([sys.executable, here + "/callingmodel.py", folder + "/model", folder + "/catalog.jsonl"], check=True)
        args = GRPOConfig(
            output_dir=folder + "/out", per_device_train_batch_size=group, num_generations=group, max_steps=5, max_completion_length=768,
            max_tool_calling_iterations=6, report_to=[], use_cpu=True, save_strategy="no", logging_steps=1, seed=1)
        tokenizer = AutoTokenizer.from_pretrained(folder + "/model")
        with open(os.path.join(os.path.dirname(trl.__file__), "chat_templates", "qwen3.jinja"), encoding="utf-8") as file:
            tokenizer.chat_template = file.read()  # the one by which TRL knows how calls are written
        trainer = GRPOTrainer(model=folder + "/model", processing_class=tokenizer, train_dataset=rows, environment_factory=Watched, args=args)
        trainer.train()
        assert all(torch.isfinite(weights).all() for weights in trainer.model.parameters())
    logs = [log for log in trainer.state.log_history if "reward" in log]
    print("GRPOTrainer made", len(logs), "updates:", [{k: log[k] for k in log if "reward" in k or "tools" in k} for log in logs])
    assert len(logs) == 5 and max(reward or 0 for reward, _ in paid) > 0 and not failures
    for n, failure in enumerate(["", "Error", "timed out", "record_failed", ""]):
        for reward, masked in paid[n * group : (n + 1) * group]:
            assert (reward is None) == bool(failure) and failure in (masked or ""), (n, reward, masked)
    print("killed, stopped, full disk in mid-update: 12 of 12 touched samples masked, none paid; 8 others paid")



if __name__ == "__main__":
    main()
