"""Writes a Qwen3 model made here as the one file that llama.cpp reads:
python togguf.py FOLDER FILE. FOLDER is of callingmodel.py or tinymodel.py; llama.cpp's own
converter knows published tokenizers alone."""

import json
import sys

import gguf
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(folder, file):
    model, tok = AutoModelForCausalLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    c = model.config
    out = gguf.GGUFWriter(file, "qwen3")
    out.add_block_count(c.num_hidden_layers)
    out.add_context_length(c.max_position_embeddings)
    out.add_embedding_length(c.hidden_size)
    out.add_feed_forward_length(c.intermediate_size)
    out.add_head_count(c.num_attention_heads)
    out.add_head_count_kv(c.num_key_value_heads)
    out.add_key_length(c.head_dim)
    out.add_value_length(c.head_dim)
    out.add_layer_norm_rms_eps(c.rms_norm_eps)
    out.add_rope_freq_base(c.rope_parameters["rope_theta"])

    special = set(tok.all_special_tokens)
    added = {t.content for t in tok.added_tokens_decoder.values()}
    tokens = [t for t, _ in sorted(tok.get_vocab().items(), key=lambda item: item[1])]
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list(tokens)
    kinds = gguf.TokenType
    out.add_token_types([kinds.CONTROL if t in special else kinds.USER_DEFINED if t in added else kinds.NORMAL for t in tokens])
    merges = json.loads(tok.backend_tokenizer.to_str())["model"]["merges"]
    out.add_token_merges([m if isinstance(m, str) else " ".join(m) for m in merges])
    out.add_eos_token_id(tok.eos_token_id)
    out.add_pad_token_id(tok.pad_token_id)
    out.add_add_bos_token(False)
    out.add_chat_template(tok.chat_template)

    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.QWEN3, c.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and c.tie_word_embeddings:
            continue
        out.add_tensor(names.get_name(name, try_suffixes=(".weight",)), tensor.float().numpy())
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


main(*sys.argv[1:])
