@{template "head" .}@
from trl import RewardConfig, RewardTrainer

CORPUS, MODEL = ".", "Qwen/Qwen3-0.6B"  # this folder, and the model to train: a name, or the folder of an earlier stage
sys.path.insert(0, CORPUS)
from training_check import check

rows = load_dataset(CORPUS + "/data/@{.Config}@", split="train")@{if .HasEval}@
held_out = load_dataset(CORPUS + "/data/@{.Config}@", data_files={"eval": "eval-*"}, split="eval")@{end}@
args = RewardConfig(
    output_dir="reward",
@{template "sizes" .}@)
trainer = RewardTrainer(MODEL, args=args, train_dataset=rows@{if .HasEval}@, eval_dataset=held_out@{end}@)
check(trainer, rows)  # no row is left out or cut, or an error says what is
trainer.train()
trainer.save_model()
