"""Runs the blocks of a corpus's card as they stand, and reads back what carries loss.

    check_train.py CORPUS trl|llamafactory|verl|axolotl|msswift [CONFIG…]

The blocks run in the corpus's folder; where configs are named, theirs alone. Only the model, the output folder, the number of
steps, the batch and, for TRL, that nothing is evaluated are set here; lengths, templates and masks are the block's own or the
trainer's default. check_paste.py runs the blocks with nothing set. The model is tiny and random, its tokenizer is made of the corpus. For every row of the block's config:
none is lost, and the decoded loss text is the assistant's turns, reasoning and arguments included, and nothing else.
"""
import json
import os
import re
import sys
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", TQDM_DISABLE="1", TOKENIZERS_PARALLELISM="false", WANDB_MODE="disabled", DISABLE_VERSION_CHECK="1")
WORK = tempfile.mkdtemp(prefix="check-train-")
os.environ["HF_DATASETS_CACHE"] = os.path.join(WORK, "cache")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
failed = passed = 0


def check(name, run):
    global failed, passed
    try:
        said = run()
        passed += 1
        print(f"ok   {name}: {said}", flush=True)
    except Exception as error:  # a trainer may raise anything
        failed += 1
        print(f"FAIL {name}: {type(error).__name__}: {' '.join(str(error).split())[:600]}", flush=True)


def need(holds, message):
    if not holds:
        raise ValueError(message)


def shards(root, config, split="train"):
    with open(os.path.join(root, "manifest.json"), encoding="utf-8") as file:
        files = json.load(file)["files"]
    return [os.path.join(root, f["path"]) for f in files if f.get("config") == config and f.get("split") == split]


def rows(root, config):
    import pyarrow.parquet
    return [row for path in shards(root, config) for row in pyarrow.parquet.read_table(path).to_pylist()]


def blocks(root):
    """(trainer, config, text) of every block of the card."""
    with open(os.path.join(root, "README.md"), encoding="utf-8") as file:
        text = re.search(r"\n## Training\n(.*?)(?=\n## |\Z)", file.read(), re.S)[1]
    found = re.findall(r"\n([^\n]+), config `([^`]+)`:\n\n```\w+\n(.*?)```", text, re.S)
    return [block for block in found if block[1] in (sys.argv[3:] or [block[1]])]


def model(root, template=None):
    """A folder with a tiny model and a tokenizer of the corpus's own words."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
    at = os.path.join(WORK, "model")
    if os.path.exists(at):
        return at
    tok = Tokenizer(models.BPE())
    tok.pre_tokenizer, tok.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    words = [m["content"] for r in (rows(root, "text") or rows(root, "sft"))[:40] for m in decoded(r["messages"])]
    tok.train_from_iterator(words, trainers.BpeTrainer(vocab_size=2000, special_tokens=SPECIAL, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    fast = PreTrainedTokenizerFast(tokenizer_object=tok, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    with open(os.path.join(root, "chat_template.jinja"), encoding="utf-8") as file:
        fast.chat_template = file.read()
    fast.save_pretrained(at)
    config = Qwen3Config(vocab_size=len(fast), hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, head_dim=16,
                         max_position_embeddings=1 << 17, eos_token_id=fast.eos_token_id, pad_token_id=fast.pad_token_id, tie_word_embeddings=True)
    Qwen3ForCausalLM(config).save_pretrained(at)
    return at


def spoken(message):
    """What an assistant's turn is in chat_template.jinja."""
    parts = [f"<think>\n{message['reasoning_content']}\n</think>\n"] if message.get("reasoning_content") else []
    parts += [message["content"]] if message.get("content") else []
    for call in message.get("tool_calls") or []:
        name, arguments = (json.dumps(call["function"][k], ensure_ascii=False, separators=(",", ":")) for k in ("name", "arguments"))
        parts.append(f'<tool_call>\n{{"name":{name},"arguments":{arguments}}}\n</tool_call>')
    return "\n".join(parts) + "<|im_end|>"


def turns(messages):
    said = [m for m in messages if m["role"] == "assistant" and m.get("weight", 1)]
    return [spoken(m) for m in said]


def decoded(messages):
    return [json.loads(m) if isinstance(m, (str, bytes)) else m for m in messages]


def learned(tok, ids, mask):
    return tok.decode([i for i, m in zip(ids, mask) if m], skip_special_tokens=False)


def same(got, want):
    need(len(got) == len(want), f"{len(want)} rows in, {len(got)} left")
    for i, (g, w) in enumerate(zip(got, want)):
        need(g == w, f"row {i}: loss on {len(g)} characters, {len(w)} wanted; they part at {len(os.path.commonprefix([g, w]))}: {g[len(os.path.commonprefix([g, w])):][:80]!r}")


def loss_text(trainer, tok, root, config):
    """What carries loss in every row, by the trainer's own collator."""
    for row in trainer.train_dataset:
        batch = trainer.data_collator([row])
        if "labels" in batch:
            yield [learned(tok, ids, [x != -100 for x in labels]) for ids, labels in zip(batch["input_ids"].tolist(), batch["labels"].tolist())]
        else:
            yield [learned(tok, ids, mask) for ids, mask in zip(batch["input_ids"].tolist(), batch["completion_mask"].tolist())]


def completion(ms):
    """A completion as the template writes it behind its prompt, without the mark that opens it."""
    out = ""
    for i, m in enumerate(ms):
        out += ("" if i == 0 else f"<|im_start|>{m['role']}\n") + m["content"] + "<|im_end|>\n"
    return out


def trl(root):
    import datasets
    import transformers
    datasets.disable_progress_bars()
    transformers.logging.set_verbosity_error()
    at = model(root)
    faults(root)
    tok = transformers.AutoTokenizer.from_pretrained(at)
    for who, config, text in blocks(root):
        if not who.startswith("TRL") or "GRPO" in who:
            continue

        def run():
            code = text.replace('"Qwen/Qwen3-0.6B"', repr(at))
            extra = "max_steps=2, report_to='none', save_strategy='no', disable_tqdm=True, logging_strategy='no', dataloader_pin_memory=False, "
            extra += "" if "per_device" in code else "per_device_train_batch_size=1, "
            code = re.sub(r"gradient_accumulation_steps=\d+", "gradient_accumulation_steps=1", code).replace('eval_strategy="epoch"', 'eval_strategy="no"')
            code = re.sub(r'output_dir="\w+",', f"output_dir={WORK!r}, {extra}", code)
            names = {}
            exec(code, names)
            trainer, n = names["trainer"], len(names["rows"])
            need(trainer.state.global_step == 2, "no two steps")
            if "Reward" in who:
                return f"{n} rows, two steps"
            got = list(loss_text(trainer, tok, root, config))
            if "SFT" in who:
                same([g for g, in got], ["".join(turns(decoded(r["messages"]))) for r in rows(root, config)])
                return f"{n} rows, two steps; the loss is on the assistant's turns, all of them"
            if "DPO" in who:
                want = [[completion(r["chosen"]), completion(r["rejected"])] for r in rows(root, config)]
                same([g[0] + "|" + g[1] for g in got], ["|".join(w) for w in want])
            else:
                same([g[0] for g in got], [completion(r["completion"]) for r in rows(root, config)])
            shop = sum(len(m["content"]) for r in rows(root, config) for k in ("chosen", "rejected", "completion") for m in r.get(k) or [] if m["role"] != "assistant")
            whole = sum(len(m["content"]) for r in rows(root, config) for k in ("chosen", "rejected", "completion") for m in r.get(k) or [])
            return f"{n} rows, two steps; {shop / whole:.0%} of the loss is text of the environment"
        check(f"{who}, {config}", run)


def faults(root):
    """Each fault that training_check.py is for, planted in what stands for a trainer."""
    import numpy
    sys.path.insert(0, root)
    from training_check import check as found
    from types import SimpleNamespace as Value
    stop, good = 2, ([5, 6, 7, 2, 9, 8, 2, 3], [0, 0, 1, 1, 0, 1, 1, 1])

    def trainer(ids=good[0], mask=good[1], rows=3, reference=None, dropout=0.0, **args):
        net = Value(config=Value(_name_or_path="policy", attention_dropout=dropout), named_modules=lambda: [])
        batch = {"input_ids": numpy.array([ids]), "labels": numpy.array([[i if m else -100 for i, m in zip(ids, mask)]])}
        return Value(train_dataset=[{}] * rows, data_collator=lambda row: batch, args=Value(**args), model=net, ref_model=reference, processing_class=Value(eos_token_id=stop, chat_template="a"))
    for name, planted, word in [
            ("nothing", trainer(), ""), ("a limit that no row reaches", trainer(max_length=9), ""), ("an online trainer", trainer(num_generations=2), ""),
            ("rows left out", trainer(rows=2), "3 rows were given, 2 are left"), ("cut rows", trainer(max_length=8), "it is cut"),
            ("an empty mask", trainer(mask=[0] * 8), "nothing in its loss"), ("a full mask", trainer(mask=[1] * 8), "all of it in its loss"),
            ("a mask that ends one token early", trainer(mask=[0, 0, 1, 0, 0, 1, 1, 1]), "one token early"), ("no stop token", trainer(mask=[1, 1, 0, 0, 0, 1, 1, 1]), "where a turn stops"),
            ("dropout while generating", trainer(num_generations=2, dropout=0.1), "attention_dropout"),
            ("another template of the reference", trainer(reference=Value(config=Value(_name_or_path=model(root)))), "another chat template")]:
        def run():
            try:
                found(planted, [{}] * 3)
                said = ""
            except ValueError as error:
                said = str(error)
            need(bool(said) == bool(word) and word in said, f"said {said!r}")
            return said or "no fault"
        check(f"planted: {name}", run)


def llamafactory(root):
    import yaml
    at = model(root)
    for who, config, text in blocks(root):
        if not who.startswith("LLaMA"):
            continue

        def run():
            settings = yaml.safe_load(text)
            settings.update(model_name_or_path=at, dataset_dir=root, output_dir=os.path.join(WORK, "lf"), max_steps=2, use_cpu=True, report_to="none", save_strategy="no", overwrite_cache=True)
            from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
            from llamafactory.hparams import get_train_args
            from llamafactory.model import load_tokenizer
            from llamafactory.train.tuner import run_exp
            run_exp(dict(settings))
            settings["output_dir"] += "-read"
            model_args, data_args, training_args, _, _ = get_train_args(dict(settings))
            module = load_tokenizer(model_args)
            template = get_template_and_fix_tokenizer(module["tokenizer"], data_args)
            data = get_dataset(template, model_args, data_args, training_args, stage="sft", **module)["train_dataset"]
            source, tok, bad = rows(root, config), module["tokenizer"], []
            need(len(data) == len(source), f"{len(source)} rows in, {len(data)} left")
            for row, src in zip(data, source):
                got = learned(tok, row["labels"], [x != -100 for x in row["labels"]])
                for turn in src["conversations"][1::2]:
                    thought = re.match(r"(?s)<think>\n(.*?)\n</think>\n\n(.*)", turn["value"])
                    want = [thought[1], thought[2]] if thought else [turn["value"]]
                    calls = json.loads(want.pop()) if turn["from"] == "function_call" else []
                    want += [json.dumps(c["arguments"], ensure_ascii=False) for c in (calls if isinstance(calls, list) else [calls])]
                    bad += [w[:60] for w in want if w not in got]
                bad += [t["value"][:60] for t in src["conversations"][0::2] if t["value"] in got]
            need(not bad, f"{len(bad)} pieces: {bad[:3]}")
            return f"{len(data)} rows, two steps; every reasoning and argument is in the loss, nothing of the environment"
        check(f"{who}, {config}", run)


def verl(root):
    from omegaconf import OmegaConf
    from verl.utils.dataset.multiturn_sft_dataset import MultiTurnSFTDataset
    from verl.utils.dataset.rl_dataset import RLHFDataset
    import importlib.resources
    import transformers
    at = model(root)
    for who, config, text in blocks(root):
        if not who.startswith("verl"):
            continue

        def run():
            own = OmegaConf.from_dotlist([x for x in re.findall(r"\b(data\.\w+=\d+)", text)]).data
            if "max_prompt_length" in own:
                base = OmegaConf.load(importlib.resources.files("verl") / "trainer/config/data/legacy_data.yaml")
                tok = transformers.AutoTokenizer.from_pretrained(at)
                data = RLHFDataset(shards(root, config), tok, OmegaConf.merge(base, own, {"tool_config_path": None, "cache_dir": WORK}))
                need(len(data) == len(rows(root, config)), f"{len(rows(root, config))} rows in, {len(data)} left")
                need(all(data[i]["reward_model"]["ground_truth"] for i in range(len(data))), "no ground truth")
                return f"{len(data)} rows"
            base = OmegaConf.load(importlib.resources.files("verl") / "trainer/config/sft_trainer_engine.yaml").data
            script = re.search(r"python - <<'PY'\n(.*?)\nPY", text, re.S)[1].replace("Qwen/Qwen3-0.6B", at)
            script = script.replace('"chat_template.jinja"', repr(root + "/chat_template.jinja")).replace('"tokenizer"', repr(WORK + "/tokenizer"))
            exec(script, {})
            tok = transformers.AutoTokenizer.from_pretrained(WORK + "/tokenizer")
            data = MultiTurnSFTDataset(shards(root, config), tok, OmegaConf.merge(base, own))
            got = [learned(tok, data[i]["input_ids"].tolist(), data[i]["loss_mask"].tolist()) for i in range(len(data))]
            same(got, ["".join(t + "\n" for t in turns(r["messages"])) for r in rows(root, config)])
            return f"{len(data)} rows; the loss is on the assistant's turns, all of them"
        check(f"{who}, {config}", run)


def axolotl(root):
    import datasets
    import transformers
    import yaml
    from axolotl.prompt_strategies import load
    from axolotl.utils.dict import DictDefault
    at = model(root)
    tok = transformers.AutoTokenizer.from_pretrained(at)
    for who, config, text in blocks(root):
        if not who.startswith("axolotl"):
            continue

        def run():
            settings = yaml.safe_load(text)
            of, = settings["datasets"]
            strategy = load(of["type"], tok, DictDefault(settings), DictDefault(of))
            data = datasets.load_dataset(of["path"], split=of["split"])
            out = [strategy.tokenize_prompt(row) for row in data]
            need(all(len(o["input_ids"]) <= settings["sequence_len"] for o in out), "a row is longer than sequence_len")
            if of["type"] == "stepwise_supervised":
                need(all(sum(x != -100 for x in o["labels"]) == len(r["labels"]) for o, r in zip(out, data)), "a step lacks its label")
                return f"{len(out)} rows, a label for every step"
            got = [learned(tok, o["input_ids"], [x != -100 for x in o["labels"]]) for o in out]
            same(got, ["".join(turns(decoded(r["messages"]))) for r in rows(root, config)])
            return f"{len(out)} rows; the loss is on the assistant's turns, all of them"
        check(f"{who}, {config}", run)


def msswift(root):
    from swift import EncodePreprocessor, get_processor, get_template, load_dataset
    at = model(root)

    def loss_texts(config, flags, agent):
        processor = get_processor(at, model_type=flags["model_type"])
        template = get_template(processor, template_type=flags["template"], agent_template=agent, max_length=int(flags["max_length"]), truncation_strategy=flags["truncation_strategy"])
        template.set_mode("train")
        data, _ = load_dataset(shards(root, config), split_dataset_ratio=0.0)
        encoded = EncodePreprocessor(template)(data, num_proc=1, load_from_cache_file=False)
        return [learned(processor, row["input_ids"], [x != -100 for x in row["labels"]]) for row in encoded]

    for who, config, text in blocks(root):
        if not who.startswith("ms-swift"):
            continue
        flags = dict(re.findall(r"--(\w+) (\w+)", text))

        def safe():
            same(loss_texts(config, flags, None), ["".join(t + "\n" for t in turns(r["messages"])) for r in rows(root, config)])
            return f"{len(rows(root, config))} rows; the loss is on the assistant's turns, all of them"
        check(f"{who}, {config}", safe)

        def lossy():
            said = [m for r in rows(root, "hf-json") for m in decoded(r["messages"]) if m["role"] == "assistant" and m.get("reasoning_content")]
            learns = "".join(loss_texts("hf-json", flags, "hermes"))
            kept = sum(m["reasoning_content"] in learns for m in said)
            need(kept == 0, f"{kept} of {len(said)} reasonings are in the loss: the block's warning is out of date")
            return f"0 of {len(said)} reasonings are in the loss, as the block warns"
        check(f"{who}, hf-json", lossy)


def main():
    if len(sys.argv) < 3 or sys.argv[2] not in ("trl", "llamafactory", "verl", "axolotl", "msswift"):
        sys.exit(__doc__)
    root = os.path.abspath(sys.argv[1])
    os.chdir(root)  # where the card tells to run its blocks
    globals()[sys.argv[2]](root)
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed) or not passed)


if __name__ == "__main__":
    main()
