"""GRPO over TRL in the environment: python grpo.py MODEL EXPORT OUT --steps N --rate R --env URL, the address of `arena env serve`.

EXPORT is what `arena export --profile env` wrote: the training problems, and the class that plays them. The reward is the
environment's; eight attempts at a problem are compared with each other.
"""
import installed  # first: it says what is not installed
import json
import os
import sys
from pathlib import Path

from datasets import load_dataset
from transformers import AutoTokenizer
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import qwen3_template

from stage import flags, settings, train

GROUP = 8


def main() -> None:
    p = flags(__doc__, batch=64)
    p.add_argument("--env", required=True)
    p.add_argument("--longest", type=int, default=512, help="tokens of an attempt at most, results included; a step takes as long as its longest reply")
    a = p.parse_args()
    os.environ["ARENA_ENV"] = a.env
    sys.path.insert(0, str(Path(a.rows, "env")))
    from trl_env import ShopEnv

    rows = load_dataset("json", data_files=str(Path(a.rows, "env", "train.jsonl")), split="train")
    tokenizer = AutoTokenizer.from_pretrained(a.model)
    tokenizer.response_template = qwen3_template  # how calls are written
    # TRL makes definitions of the tools from the class: the student is shown those that its rows had.
    tools = json.loads(Path(a.rows, "env", "tools.json").read_text(encoding="utf-8"))
    tokenizer.chat_template = "{%- set tools = " + json.dumps(tools) + " %}" + tokenizer.chat_template
    args = GRPOConfig(
        num_generations=GROUP, max_completion_length=a.longest, max_tool_calling_iterations=3, temperature=1.0, beta=0.0, **settings(a))
    trainer = GRPOTrainer(a.model, args=args, train_dataset=rows, processing_class=tokenizer, environment_factory=ShopEnv)
    train(trainer, a, rows)


if __name__ == "__main__":
    main()
