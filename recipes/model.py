"""Makes a small model in the form of Qwen3 that can repeat what it read and nothing else, with a tokenizer of the rows' own words, in a folder:
python model.py CORPUS CATALOG FOLDER LAYERS WIDTH SEED ROWS... Nothing is downloaded."""
import installed  # first: it says what is not installed
import json
import sys
from pathlib import Path

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from sft import read

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<think>\n", "\n</think>\n\n", "<tool_call>\n", "\n</tool_call>", "<tool_response>\n", "\n</tool_response>"]
# A key of JSON with the signs around it, a word, two digits.
PIECES = r"""[^\p{L}\d]*"[a-z_]+": ?["\[]*| ?[\p{L}_]+|\d\d"""
HEAD = 32  # width of a head of attention
PHRASES, WORDS = 10, 3  # what is repeated at once: so many phrases of so many words
READS = 200  # steps of learning to repeat, for each layer


def tokenizer(corpus: str, catalog: str, files: list[str]) -> PreTrainedTokenizerFast:
    """Words and keys of all students' rows are tokens, and numbers are cut into pairs of digits, so that an id that was never an answer is made
    of known pieces. The system's turn, the same in every row, is one token: it would be a third of each."""
    raw = Tokenizer(models.BPE())
    pieces = pre_tokenizers.Split(Regex(PIECES), "isolated")
    raw.pre_tokenizer = pre_tokenizers.Sequence([pieces, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    texts = Path(catalog).read_text(encoding="utf-8").splitlines() + [f"{n:02}" for n in range(100)] * 9
    template = Path(corpus, "chat_template.jinja").read_text(encoding="utf-8")
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=SPECIAL[2], pad_token=SPECIAL[0], chat_template=template)
    for rows in map(read, files):
        for row in rows:
            texts.append(fast.apply_chat_template(row["messages"][1:], tokenize=False))
    system = fast.apply_chat_template(rows[0]["messages"][:1], tools=rows[0]["tools"], tokenize=False)
    raw.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=2000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False))
    raw.add_tokens([AddedToken(text, normalized=False) for text in [*MARKS, system]])
    return PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=SPECIAL[2], pad_token=SPECIAL[0], chat_template=template, model_max_length=4096)


def learn_to_repeat(model: Qwen3ForCausalLM, steps: int) -> float:
    """What every model that has read much can do, and what one of random weights would spend all its steps on: to say again
    what stands in its context. It reads phrases of words drawn by chance, then the same phrases in another order, of which
    it is to tell all but the first word of each. Nothing of a shop, a dialogue or a tool is in them. The last step's loss."""
    model.to(device := "cuda" if torch.cuda.is_available() else "cpu")
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3 * 128 / model.config.hidden_size)
    rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1, (step + 1) / 30, 5 * (steps - step) / steps))
    for _ in range(steps):
        first = torch.randint(len(SPECIAL), model.config.vocab_size, (64, PHRASES, WORDS))
        order = torch.rand(64, PHRASES).argsort(1)
        ids = torch.cat([first, first.gather(1, order[:, :, None].expand_as(first))], 1).flatten(1)
        labels = ids.clone()
        labels[:, : PHRASES * WORDS] = -100
        labels[:, PHRASES * WORDS :: WORDS] = -100
        loss = model(input_ids=ids.to(device), labels=labels.to(device)).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        optimizer.zero_grad()
    return loss.item()


def main(corpus: str, catalog: str, folder: str, layers: int, width: int, seed: int, files: list[str]) -> None:
    torch.manual_seed(seed)
    words = tokenizer(corpus, catalog, files)
    config = Qwen3Config(
        vocab_size=len(words), hidden_size=width, intermediate_size=2 * width, num_hidden_layers=layers, num_attention_heads=width // HEAD,
        num_key_value_heads=width // HEAD, head_dim=HEAD, max_position_embeddings=4096, eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id, tie_word_embeddings=True)
    model = Qwen3ForCausalLM(config)
    loss = learn_to_repeat(model, READS * layers)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    print(json.dumps({"weights": sum(p.numel() for p in model.parameters()), "tokens": len(words), "loss": loss}))


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:7]), sys.argv[7:])
