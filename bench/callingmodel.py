"""Makes a model in the form of Qwen3 that writes thoughts and tool calls, in the folder
given: python callingmodel.py FOLDER CATALOG [EXPORT]. Nothing is downloaded and nothing trained:
whatever it reads, each token depends on the one before alone, by weights that are
written down here. So it knows nothing and still does all that a server must handle:
thinking, good and broken calls, ends. With EXPORT its tokenizer has the words and the chat
template of that corpus, whose rows then have as many tokens as by a real one, and it
solves the problem that wants the first product of CATALOG: it searches for the product's title, and recommends the
product once a result was shown, by a weight that attends to the end of a result."""

import glob
import json
import sys

import torch
from tinymodel import SPECIAL, TEMPLATE, words
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

LONGEST = 32768  # tokens
SHOWN = "</tool_response>"  # what ends a result in the chat template


def call(name, **arguments):
    return "\n" + json.dumps({"name": name, "arguments": arguments}) + "\n"


def chains(product, solves):
    """What may follow what, with how many equal chances. Where it solves, a reply searches for the product's title, or
    recommends it and ends; see prefer for which. An id that no result showed is invented, and no row is made of it."""
    identity = str(product["product_id"])
    recommend, end = call("recommend_product", product_ids=identity), call("terminate", status="success")
    calls = {
        call("find_product", q="desk lamp"): 5,
        call("view_product_information", product_ids=identity): 2,
        recommend: 2,
        end: 2,
        '\n{"name": "find_product", "arguments": {"q": "desk lamp"\n': 1,
    }
    if solves:
        calls = {call("find_product", q=product["title"]): 1, recommend + "</tool_call>\n<tool_call>" + end: 1}
    thoughts = {"I look for it first.": 1, "This may be the one.": 1}
    follows = {"\n": {"<think>": 1}, "<think>": thoughts, "</think>": {"<tool_call>": 1}, "</tool_call>": {"<|im_end|>": 1}, "<tool_call>": calls}
    follows |= {text: {"</think>": 1} for text in thoughts} | {text: {"</tool_call>": 1} for text in calls}
    return follows


def rows(export):
    import pyarrow.parquet

    for path in glob.glob(export + "/data/text/*.parquet"):
        for row in pyarrow.parquet.read_table(path).to_pylist():
            yield from (m["content"] for m in row["messages"])


def tokenizer(follows, export):
    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    template, texts, size = TEMPLATE, [words], 600
    if export:
        with open(export + "/chat_template.jinja", encoding="utf-8") as file:
            template, texts, size = file.read(), rows(export), 2000
    raw.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, special_tokens=SPECIAL, initial_alphabet=alphabet))
    raw.add_tokens([AddedToken(text, normalized=False) for text in [*follows, SHOWN] if text != "\n"])
    return PreTrainedTokenizerFast(
        tokenizer_object=raw, eos_token="<|im_end|>", pad_token="<|endoftext|>", chat_template=template, model_max_length=LONGEST
    )


def prefer(model, before, after, shown):
    """Makes the token before unlikely behind a token shown, and the token after unlikely without one. Number 0 of a
    token is 1 for all, number 1 marks the token shown, and the head of attention writes into number 2 whether it was read."""
    seen, attention, head = model.model.embed_tokens.weight, model.model.layers[0].self_attn, model.lm_head.weight
    seen[:, :3], head[:, :3] = 0, 0
    seen[:, 0], seen[shown, 1] = 1, 1
    for part in (attention.q_proj, attention.k_proj, attention.v_proj):
        part.weight.zero_()
    attention.q_norm.weight.fill_(8)  # one token is to outweigh thousands
    attention.q_proj.weight[7, 0] = 1  # number 7 of a head is hardly turned by the distance of tokens
    attention.k_proj.weight[7, 1], attention.k_proj.weight[6, 0] = 10, 1
    attention.v_proj.weight[0, 1], attention.o_proj.weight[2, 0] = 0.15, 1
    head[after, 0], head[after, 2], head[before, 2] = -1, 1.8, -1


def main(folder, catalog, export=""):
    torch.manual_seed(1)
    with open(catalog) as lines:
        follows = chains(json.loads(lines.readline()), solves=bool(export))
    tok = tokenizer(follows, export)
    number = lambda text: tok.encode(text, add_special_tokens=False)[0]  # noqa: E731
    # For a server the usual shape; for a training the least, since its layers add nothing to a token.
    shape = {"intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1, "num_key_value_heads": 1, "head_dim": 16} if export else {
        "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 64}
    config = Qwen3Config(
        vocab_size=len(tok), hidden_size=128, **shape, max_position_embeddings=LONGEST, rope_parameters={"rope_type": "default", "rope_theta": 1e6}, eos_token_id=tok.eos_token_id, pad_token_id=tok.pad_token_id, tie_word_embeddings=False,
    )
    model = Qwen3ForCausalLM(config)
    with torch.no_grad():
        for layer in model.model.layers:  # what they add to a token is nothing
            layer.self_attn.o_proj.weight.zero_()
            layer.mlp.down_proj.weight.zero_()
        seen = model.model.embed_tokens.weight
        seen.copy_(torch.nn.functional.normalize(torch.randn_like(seen), dim=1))
        model.lm_head.weight.zero_()
        for text, successors in follows.items():
            for successor, chances in successors.items():
                weight = 2 + torch.log(torch.tensor(float(chances))) / 128**0.5  # the norm makes each token as long
                model.lm_head.weight[number(successor)] += weight * seen[number(text)]
        if export:
            search, recommend = follows["<tool_call>"]
            prefer(model, number(search), number(recommend), number(SHOWN))
    model.save_pretrained(folder)
    tok.save_pretrained(folder)
    print(f"{sum(p.numel() for p in model.parameters()):,} weights, {len(tok)} tokens in {folder}")


main(*sys.argv[1:])
