"""KTO over TRL: python kto.py MODEL ROWS OUT --steps N. ROWS is what recipe kto wrote: successes and failures of the
student at the same problems, each with its label. The start is the reference; labels are weighed so that both sides count alike."""
from datasets import load_dataset
from transformers import AutoTokenizer
from trl import KTOConfig, KTOTrainer

from stage import flags, settings, train


def main() -> None:
    a = flags(__doc__, batch=16, rate=3e-4).parse_args()
    rows = load_dataset(a.rows, "kto", split="train").select_columns(["prompt", "completion", "label", "tools"])
    wanted = sum(rows["label"])
    args = KTOConfig(
        max_length=None, beta=0.1, desirable_weight=1.0, undesirable_weight=wanted / max(1, len(rows) - wanted), **settings(a))
    trainer = KTOTrainer(a.model, args=args, train_dataset=rows, processing_class=AutoTokenizer.from_pretrained(a.model))
    train(trainer, a, rows, wanted=wanted)


if __name__ == "__main__":
    main()
