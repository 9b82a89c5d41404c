"""Plays episodes of a running `arena env serve` by the files of `arena export --profile env`.

    check_env.py ARENA EXPORT PROBLEMS CATALOG [--trl]

The same scripted student plays every problem through arena_env.Episode and trl_env.ShopEnv: same observations, same
reward. Then the server is killed in the middle (SIGKILL, SIGSTOP): every touched sample is masked, none is paid.
--trl lets TRL's own GRPOTrainer make two updates on a tiny model with the environment.
"""
import atexit
import json
import os
import re
import signal
import subprocess
import sys
import threading


def served(arena, problems, catalog, address="127.0.0.1:0"):
    command = [arena, "env", "serve", "--problems", problems, "--catalog", catalog, "--unguarded", "--judge", "none", "--listen", address]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for line in server.stderr:
        if found := re.search(r" on (http://\S+)", line):
            threading.Thread(target=server.stderr.read, daemon=True).start()
            return server, found[1]
    sys.exit("the server did not start")


def script(problem, right):
    rewards = problem["reward"] if isinstance(problem["reward"], list) else [problem["reward"]]
    ids = ",".join(str(r["product_id"]) for r in rewards)
    words = " ".join(problem["query"].split()[:6])
    return [("find_product", {"q": words}), ("view_product_information", {"product_ids": ids}), ("find_product", {"page": 1}),
            ("recommend_product", {"product_ids": ids if right else "1"}), ("terminate", {"status": "success"})]


def main():
    arena, export, problems, catalog = sys.argv[1:5]
    sys.path.insert(0, os.path.join(export, "env"))
    from arena_env import Episode, Masked
    from trl_env import ShopEnv

    with open(problems, encoding="utf-8") as file:
        tasks = [json.loads(line) for line in file]
    server, os.environ["ARENA_ENV"] = served(arena, problems, catalog)
    atexit.register(lambda: server.kill())
    shop, paid = ShopEnv(), []
    for i, problem in enumerate(tasks):
        moves = script(problem, i % 2 == 0)
        episode = Episode(problem["problem_id"])
        shop.reset(**problem)
        for tool, arguments in moves:
            want, got = episode.call(tool, arguments), getattr(shop, tool)(**arguments)
            assert want == got, f"{tool} is answered {got!r} and {want!r}"
        verdict, got = episode.pay(), shop.get_reward()
        assert verdict["reward"] == got == sum(verdict["reward_components"].values()), (verdict, got)
        paid.append(got)
    print(f"{len(tasks)} episodes twice: same observations, same reward; {sum(p == 1 for p in paid)} solved")

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
    server, _ = served(arena, problems, catalog, address)  # a restart: old episodes are masked, new ones go on
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
        updates(export, problems)
    server.kill()
    server.wait()


def updates(export, problems):
    """Two updates of GRPO on a model written down by hand, which looks for, recommends and ends at random: the product
    that it knows is the one that the only problem of the run asks for."""
    import tempfile

    import trl
    from datasets import load_dataset
    from transformers import AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer
    from trl_env import ShopEnv

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
            output_dir=folder + "/out", per_device_train_batch_size=4, num_generations=4, max_steps=2, max_completion_length=768,
            max_tool_calling_iterations=6, report_to=[], use_cpu=True, save_strategy="no", logging_steps=1, seed=1)
        tokenizer = AutoTokenizer.from_pretrained(folder + "/model")
        with open(os.path.join(os.path.dirname(trl.__file__), "chat_templates", "qwen3.jinja"), encoding="utf-8") as file:
            tokenizer.chat_template = file.read()  # the one by which TRL knows how calls are written
        trainer = GRPOTrainer(model=folder + "/model", processing_class=tokenizer, train_dataset=rows, environment_factory=ShopEnv, args=args)
        trainer.train()
    logs = [log for log in trainer.state.log_history if "reward" in log]
    print("GRPOTrainer made", len(logs), "updates:", [{k: log[k] for k in log if "reward" in k or "tools" in k} for log in logs])
    assert len(logs) == 2 and max(log["reward"] for log in logs) > 0


if __name__ == "__main__":
    main()
