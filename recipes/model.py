"""Makes a model of random weights in the form of Qwen3, with a tokenizer of the corpus's own words, in a folder:
python model.py CORPUS CATALOG FOLDER LAYERS WIDTH SEED. Nothing is downloaded."""
import json
import sys
from pathlib import Path

import torch
from datasets import load_dataset
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<think>\n", "\n</think>\n\n", "<tool_call>\n", "\n</tool_call>", "<tool_response>\n", "\n</tool_response>"]
# A key of JSON with the signs around it, a word, two digits.
PIECES = r"""[^\p{L}\d]*"[a-z_]+": ?["\[]*| ?[\p{L}_]+|\d\d"""
HEAD = 32  # width of a head of attention


def tokenizer(corpus: str, catalog: str) -> PreTrainedTokenizerFast:
    """Words and keys are tokens, and numbers are cut into pairs of digits, so that an id that was never an answer is made
    of known pieces. The system's turn, the same in every row, is one token: it would be a third of each."""
    raw = Tokenizer(models.BPE())
    pieces = pre_tokenizers.Split(Regex(PIECES), "isolated")
    raw.pre_tokenizer = pre_tokenizers.Sequence([pieces, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    texts = Path(catalog).read_text(encoding="utf-8").splitlines() + [f"{n:02}" for n in range(100)] * 9
    template = Path(corpus, "chat_template.jinja").read_text(encoding="utf-8")
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=SPECIAL[2], pad_token=SPECIAL[0], chat_template=template)
    rows = load_dataset(corpus, "sft", split="train")
    for row in rows:
        texts.append(fast.apply_chat_template(row["messages"][1:], tokenize=False))
    system = fast.apply_chat_template(rows[0]["messages"][:1], tools=rows[0]["tools"], tokenize=False)
    raw.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=2000, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False))
    raw.add_tokens([AddedToken(text, normalized=False) for text in [*MARKS, system]])
    return PreTrainedTokenizerFast(tokenizer_object=raw, eos_token=SPECIAL[2], pad_token=SPECIAL[0], chat_template=template, model_max_length=4096)


def main(corpus: str, catalog: str, folder: str, layers: int, width: int, seed: int) -> None:
    torch.manual_seed(seed)
    words = tokenizer(corpus, catalog)
    config = Qwen3Config(
        vocab_size=len(words), hidden_size=width, intermediate_size=2 * width, num_hidden_layers=layers, num_attention_heads=width // HEAD,
        num_key_value_heads=width // HEAD, head_dim=HEAD, max_position_embeddings=4096, eos_token_id=words.eos_token_id,
        pad_token_id=words.pad_token_id, tie_word_embeddings=True)
    model = Qwen3ForCausalLM(config)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    print(json.dumps({"weights": sum(p.numel() for p in model.parameters()), "tokens": len(words)}))


if __name__ == "__main__":
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
