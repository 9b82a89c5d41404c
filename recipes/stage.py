"""What the stages of training share: the flags, the settings of a trainer and what is kept of a training."""
import argparse
import json
import os
import sys
from pathlib import Path

import torch

GPU = torch.cuda.is_available()


def flags(doc: str, *, batch: int) -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("rows")
    p.add_argument("out")
    p.add_argument("--steps", type=int, required=True)
    p.add_argument("--batch", type=int, default=batch)
    p.add_argument("--rate", type=float, required=True)
    p.add_argument("--seed", type=int, default=1)
    return p


def settings(a: argparse.Namespace) -> dict:
    """What every trainer of TRL is told. The rate rises at first, stays, and falls over the last fifth."""
    return dict(
        output_dir=a.out + ".work", max_steps=a.steps, per_device_train_batch_size=a.batch, learning_rate=a.rate, warmup_steps=min(30, a.steps // 5),
        lr_scheduler_type="warmup_stable_decay", lr_scheduler_kwargs={"num_decay_steps": max(1, a.steps // 5)}, seed=a.seed,
        save_strategy="no", report_to="none", use_cpu=not GPU, bf16=GPU, gradient_checkpointing=GPU,
        logging_steps=max(1, a.steps // 20), disable_tqdm=True)


def train(trainer, a: argparse.Namespace, rows, **told: object) -> None:
    """Trains, after the check that lies beside the rows, and writes the model and stage.json."""
    if os.path.isdir(a.rows):
        sys.path.insert(0, a.rows)
        from training_check import check
        check(trainer, rows)  # every row and every stop token is learned, or an error says what is not
    trainer.train()
    trainer.save_model(a.out)
    last = {k: v for log in trainer.state.log_history for k, v in log.items()}
    Path(a.out, "stage.json").write_text(json.dumps({"rows": len(rows), **told, "loss": last.get("loss", last.get("train_loss"))}), encoding="utf-8")
