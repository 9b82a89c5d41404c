"""What would spoil a training run of TRL, found before its first step.

    from training_check import check
    check(trainer, rows)        # rows: what the trainer was given

Raises ValueError with every fault that it finds: rows left out or cut, a loss on nothing or on everything, a turn whose
stop token is not learned, dropout in a policy that generates, a reference model with another chat template.
"""


def runs(ids, mask):
    """Each stretch of tokens that are learned, with the token that follows it."""
    start = None
    for i, learned in enumerate([*mask, False]):
        if learned and start is None:
            start = i
        elif not learned and start is not None:
            yield ids[start:i], ids[i] if i < len(ids) else None
            start = None


def batches(trainer):
    """(row, tokens, mask) as the trainer's own collator makes them; mask is None where all is scored as a whole."""
    for i, row in enumerate(trainer.train_dataset):
        batch = trainer.data_collator([row])
        ids = batch["input_ids"].tolist()
        if "labels" in batch:
            masks = [[x != -100 for x in labels] for labels in batch["labels"].tolist()]
        else:
            masks = batch["completion_mask"].tolist() if "completion_mask" in batch else [None] * len(ids)
        for tokens, mask in zip(ids, masks):
            yield i, tokens, mask


def of_row(tokens, mask, stop, most):
    if most and len(tokens) >= most:
        yield f"fills max_length={most}: it is cut"
    if mask is None:
        return
    if not any(mask):
        yield "has nothing in its loss"
    elif all(mask):
        yield "has all of it in its loss, the prompt too"
    for run, after in runs(tokens, mask):
        if stop not in run[-3:]:  # a line break may follow it
            yield "does not learn where a turn stops: the mask ends one token early" if after == stop else "does not learn where a turn stops"
            return


def of_model(trainer):
    if hasattr(trainer.args, "num_generations"):
        dropout = {n for n, m in trainer.model.named_modules() if type(m).__name__.startswith("Dropout") and m.p > 0}
        dropout |= {k for k, v in vars(trainer.model.config).items() if k.endswith(("dropout", "pdrop")) and v}
        if dropout:
            yield f"the policy generates with dropout: {', '.join(sorted(dropout)[:3])}"
    reference = getattr(trainer, "ref_model", None)
    name = getattr(getattr(reference, "config", None), "_name_or_path", "")
    if name and name != trainer.model.config._name_or_path:
        from transformers import AutoTokenizer
        if AutoTokenizer.from_pretrained(name).chat_template != trainer.processing_class.chat_template:
            yield f"the reference model {name} has another chat template than the policy"


def check(trainer, rows):
    faults = list(of_model(trainer))
    if (left := len(trainer.train_dataset)) != len(rows):
        faults.append(f"{len(rows)} rows were given, {left} are left")
    if not hasattr(trainer.args, "num_generations"):  # an online trainer makes its own rows
        stop, most, seen = trainer.processing_class.eos_token_id, getattr(trainer.args, "max_length", None), {}
        for i, tokens, mask in batches(trainer):
            for fault in of_row(tokens, mask, stop, most):
                seen.setdefault(fault, []).append(i)
        faults += [f"row {at[0]} {fault} ({len(set(at))} such rows)" for fault, at in seen.items()]
    if faults:
        raise ValueError("; ".join(faults))
