"""Plays episodes of a running `arena env serve` by the files of `arena export --profile env`.

    check_env.py ARENA EXPORT PROBLEMS CATALOG [--trl]

The same scripted student plays every problem through arena_env.Episode and trl_env.ShopEnv: same observations, same
reward. Then the server is killed in the middle (SIGKILL, SIGSTOP): every touched sample is masked, none is paid.
--trl lets TRL's own GRPOTrainer make two updates on a tiny model with the environment.
"""
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
        updates(export)
    server.kill()
    server.wait()


def updates(export):
    """Two updates of GRPO on a tiny model whose generation is a scripted policy."""
    import torch
    from datasets import load_dataset
    from transformers import AutoTokenizer, Qwen3Config, Qwen3ForCausalLM
    from trl import GRPOConfig, GRPOTrainer
    from trl_env import ShopEnv

    rows = load_dataset("json", data_files=os.path.join(export, "env", "train.jsonl"), split="train")
    tokenizer = AutoTokenizer.from_pretrained(os.environ["TINY_TOKENIZER"])
    model = Qwen3ForCausalLM(Qwen3Config(vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, head_dim=16))
    args = GRPOConfig(output_dir="/tmp/env-grpo", per_device_train_batch_size=4, num_generations=4, max_steps=2, max_completion_length=64, max_tool_calling_iterations=3, report_to=[], use_cpu=True, save_strategy="no", logging_steps=1)
    trainer = GRPOTrainer(model=model, processing_class=tokenizer, train_dataset=rows, environment_factory=ShopEnv, args=args)
    trainer.train()
    print("GRPOTrainer made 2 updates with the environment:", [log.get("reward") for log in trainer.state.log_history if "reward" in log])


if __name__ == "__main__":
    main()
