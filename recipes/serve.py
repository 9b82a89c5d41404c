"""Serves a model behind the routes of OpenAI that arena eval asks: python serve.py MODEL --listen 127.0.0.1:8000.

It is for models too small for vLLM to be worth its start. Replies that are asked for at the same time are made as one
batch. On a CPU it computes in float64: by whom a reply is batched with can then not move a token, so that the same
seeds give the same replies whatever else is asked. Thoughts and calls are read as Qwen3 writes them.
"""
import installed  # first: it says what is not installed
import argparse
import json
import queue
import re
import threading
from concurrent.futures import Future
from pathlib import Path

import numpy
import torch
from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForCausalLM, AutoTokenizer, DynamicCache
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from listen import serve
from rows import shown, without

GPU = torch.cuda.is_available()


class Student:
    def __init__(self, folder: str, batch: int, longest: int, precision: str, example: list[dict]):
        self.example, self.spelled = example, None
        self.tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        AttentionInterface.register("grouped", grouped)
        AttentionMaskInterface.register("grouped", sdpa_mask)
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, precision), attn_implementation="grouped")
        self.model = model.to("cuda" if GPU else "cpu").eval()
        self.batch, self.longest, self.memory = batch, longest, Memory(max(2 * batch, 64))  # arena eval plays 32 at once
        self.asked: queue.Queue[tuple[dict, held.Held | None, Future]] = queue.Queue()
        threading.Thread(target=self.work, daemon=True).start()

    def answer(self, request: dict) -> dict:
        future: Future = Future()
        self.asked.put((request, self.held_to(request), future))
        return future.result()

    def held_to(self, request: dict) -> "held.Held | None":
        """What holds the reply to the grammar of structured_outputs, as vLLM reads it. With tools_once the grammar has no tool that the dialogue has called."""
        asked = request.get("structured_outputs") or {}
        if asked.keys() - {"grammar"}:
            raise ValueError(f"structured_outputs: only grammar is known, not {', '.join(sorted(asked))}")
        if not asked:
            return None
        import held

        self.spelled = self.spelled or held.spelled(self.tokenizer, self.model.config.vocab_size)
        names = called(request)
        return held.Held(self.spelled, without(asked["grammar"], names) if names else asked["grammar"])

    def work(self) -> None:
        while True:
            batch = [self.asked.get()]
            try:
                while len(batch) < self.batch:  # those that arrive together are answered together
                    batch.append(self.asked.get(timeout=0.02))
            except queue.Empty:
                pass
            try:
                for (*_, future), reply in zip(batch, self.replies([request for request, *_ in batch], [to for _, to, _ in batch])):
                    future.set_result(reply)
            except Exception as error:  # those who wait are to hear of it
                for *_, future in batch:
                    future.set_exception(error)

    def read_once(self, prompts: list[list[int]]) -> None:
        """Reads what all prompts begin with, such as the system's turn, once instead of once a prompt, unless it is known."""
        rows = list(map(numpy.array, prompts))
        first = prompts[0][: min(shared(rows[0], row) for row in rows)]
        if len(prompts) > 1 and first and max((shared(ids, rows[0][: len(first)]) for ids, _ in self.memory.held), default=0) < len(first):
            ids, mask = padded([first], 0)
            out = self.model(input_ids=ids.to(self.model.device), use_cache=True, logits_to_keep=1)
            self.memory.keep([first], [[]], out.past_key_values, mask)

    @torch.inference_mode()
    def replies(self, requests: list[dict], to: "list[held.Held | None]") -> list[dict]:
        texts = [self.tokenizer.apply_chat_template(list(map(read, shown(r["messages"], self.example))), tools=r.get("tools"), tokenize=False, add_generation_prompt=True) for r in requests]
        prompts = self.tokenizer(texts)["input_ids"]
        self.read_once(prompts)
        known, cache = self.memory.recalled(prompts)
        ids, mask = padded([p[k:] for p, k in zip(prompts, known)], self.tokenizer.pad_token_id)
        mask = torch.cat([padded([[1] * k for k in known], 0)[1], mask], dim=1)
        device = self.model.device
        ids, mask = ids.to(device), mask.to(device)
        position = (mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1]:]
        dice = [torch.Generator().manual_seed(r.get("seed") or 0) for r in requests]
        most = [min(r.get("max_tokens") or self.longest, self.longest) for r in requests]
        written: list[list[int]] = [[] for _ in requests]
        open_ = set(range(len(requests)))
        banned = [Banned(self.tokenizer, r) for r in requests]
        while open_:
            out = self.model(input_ids=ids, attention_mask=mask, position_ids=position, past_key_values=cache, use_cache=True, logits_to_keep=1)
            if not any(written):
                grow(out.past_key_values, max(most))
            cache, last = out.past_key_values, out.logits[:, -1].double().cpu()
            chosen = torch.full((len(requests),), self.tokenizer.pad_token_id)
            for i in sorted(open_):
                allowed = torch.frombuffer(bytearray(to[i].allowed()), dtype=torch.uint8) > 0 if to[i] else torch.ones(last.shape[1], dtype=torch.bool)
                free = allowed.clone()
                free[banned[i].after(written[i])] = False
                chosen[i] = draw(last[i].masked_fill(~(free if free.any() else allowed), -torch.inf), requests[i], dice[i])
                if to[i]:
                    to[i].took(int(chosen[i]))
                if chosen[i] == self.tokenizer.eos_token_id:
                    open_.discard(i)
                    continue
                written[i].append(int(chosen[i]))
                if len(written[i]) >= most[i]:
                    open_.discard(i)
            ids = chosen[:, None].to(device)
            mask = torch.cat([mask, torch.ones_like(ids)], dim=1)
            position = position[:, -1:] + 1
        self.memory.keep(prompts, written, cache, mask)
        return [completion(self.tokenizer.decode(w), len(p), len(w), len(w) >= m, bool(r.get("tools"))) for w, p, m, r in zip(written, prompts, most, requests)]


class Banned:
    """What a reply may not contain: the words of bad_words, as in vLLM, and with tools_once, where no grammar sees to it, a call of a tool that the dialogue has called."""

    def __init__(self, tokenizer: AutoTokenizer, request: dict):
        def tokens(text: str) -> list[int]:
            return tokenizer(text, add_special_tokens=False)["input_ids"]

        self.words = [tokens(word) for word in request.get("bad_words") or []]
        for name in [] if request.get("structured_outputs") else called(request):
            self.words += [tokens(before + name)[: len(tokens(before)) + 1] for before in ('{"name":"', '{"name": "')]

    def after(self, written: list[int]) -> list[int]:
        """The tokens that may not come next: the last one of each word whose others were just written."""
        return [word[-1] for word in self.words if written[len(written) - len(word) + 1 :] == word[:-1]]


def called(request: dict) -> list[str]:
    """With tools_once, the tools that the dialogue has called."""
    said = " ".join(m["content"] or "" for m in request["messages"] if m["role"] == "assistant") if request.get("tools_once") else ""
    return sorted(set(re.findall(r'<tool_call>\s*\{"name": ?"(\w+)', said)))


def padded(rows: list[list[int]], pad: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows as one matrix, filled up from the left, and where it is not filled up."""
    width = max(map(len, rows))
    ids = torch.tensor([[pad] * (width - len(r)) + r for r in rows], dtype=torch.long)
    return ids, torch.tensor([[0] * (width - len(r)) + [1] * len(r) for r in rows], dtype=torch.long)


def grouped(module, query, key, value, mask, scaling=None, **more):
    """Attention of one new token: heads that share keys are computed together, so that keys are not copied for each."""
    if query.shape[2] != 1:
        return sdpa_attention_forward(module, query, key, value, mask, scaling=scaling, **more)
    n, heads, _, width = query.shape
    out = torch.nn.functional.scaled_dot_product_attention(query.reshape(n, key.shape[1], -1, width), key, value, attn_mask=mask, scale=scaling)
    return out.reshape(n, 1, heads, width), None


def grow(cache: DynamicCache, room: int) -> None:
    """Gives each layer room for so many more tokens, so that a new token does not copy those before it."""
    for layer in cache.layers:
        held = [torch.cat([part, part.new_empty(*part.shape[:2], room, part.shape[3])], dim=2) for part in (layer.keys, layer.values)]

        def update(keys, values, *_, layer=layer, held=held, **__):
            n = layer.keys.shape[2]
            for part, new in zip(held, (keys, values)):
                part[:, :, n : n + new.shape[2]] = new
            layer.keys, layer.values = (part[:, :, : n + keys.shape[2]] for part in held)
            return layer.keys, layer.values

        layer.update = update


class Memory:
    """Keys and values of the latest dialogues, so that the next request of a dialogue is read from its new turns on, and a new dialogue from its first turn."""

    def __init__(self, most: int):
        self.most = most
        self.held: list[tuple[numpy.ndarray, list[tuple[torch.Tensor, torch.Tensor]]]] = []  # tokens, and of each layer the keys and values, [heads, tokens, width]

    def recalled(self, prompts: list[list[int]]) -> tuple[list[int], DynamicCache | None]:
        """How many first tokens of each prompt are known, and the cache of all prompts, filled up from the left. At least one token stays to be read."""
        best = [max(((shared(ids, row[:-1]), n) for n, (ids, _) in enumerate(self.held)), default=(0, 0)) for row in map(numpy.array, prompts)]
        width = max(k for k, _ in best)
        if width == 0:
            return [0] * len(prompts), None
        def layer(n: int, which: int) -> torch.Tensor:
            return torch.stack([torch.nn.functional.pad(self.held[of][1][n][which][:, :k], (0, 0, width - k, 0)) for k, of in best])

        return [k for k, _ in best], DynamicCache([(layer(n, 0), layer(n, 1)) for n in range(len(self.held[0][1]))])

    def keep(self, prompts: list[list[int]], written: list[list[int]], cache: DynamicCache, mask: torch.Tensor) -> None:
        layers = [(layer.keys, layer.values) for layer in cache.layers]
        for i, (prompt, made) in enumerate(zip(prompts, written)):
            ids = prompt + made[:-1]  # the last token, and what other replies of the batch added, was not read or is not this dialogue's
            at = mask[i, : layers[0][0].shape[2]].nonzero()[:, 0][: len(ids)]
            self.held.append((numpy.array(ids), [(k[i][:, at], v[i][:, at]) for k, v in layers]))
        self.held = self.held[-self.most:]


def shared(one: numpy.ndarray, other: numpy.ndarray) -> int:
    """How many first tokens are the same."""
    least = min(len(one), len(other))
    differs = (one[:least] != other[:least]).nonzero()[0]
    return int(differs[0]) if len(differs) else least


def read(message: dict) -> dict:
    """A message as templates take it: arguments are an object, not its text."""
    calls = [{"function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}} for c in message.get("tool_calls") or []]
    return {**message, "tool_calls": calls}


def draw(logits: torch.Tensor, request: dict, dice: torch.Generator) -> int:
    """The likeliest token, or one drawn by temperature and top_p."""
    heat = request.get("temperature", 0) or 0
    if heat == 0:
        return int(logits.argmax())
    chances, order = (logits / heat).softmax(0).sort(descending=True)
    chances[chances.cumsum(0) - chances >= request.get("top_p", 1)] = 0
    return int(order[torch.multinomial(chances, 1, generator=dice)])


def completion(text: str, prompt: int, made: int, cut: bool, native: bool = True) -> dict:
    """The reply as OpenAI's interface has it. What cannot be read as a call stays text, and all of it where no tool was offered."""
    message: dict = {"role": "assistant"}
    if native and (thought := re.match(r"\s*<think>\n?(.*?)\n?</think>\s*", text, re.S)):
        message["reasoning_content"], text = thought[1], text[thought.end():]
    calls = []
    for found in re.findall(r"<tool_call>(.*?)</tool_call>", text * native, re.S):
        try:
            made_call = json.loads(found)
            function = {"name": made_call["name"], "arguments": json.dumps(made_call["arguments"], ensure_ascii=False)}
            calls.append({"id": f"call_{len(calls)}", "type": "function", "function": function})
        except (ValueError, KeyError, TypeError):
            calls = []
            break
    if calls:
        message["tool_calls"], text = calls, re.sub(r"<tool_call>.*?</tool_call>", "", text, flags=re.S).strip()
    message["content"] = text
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "length" if cut else "tool_calls" if calls else "stop"}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": prompt + made}}


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("model")
    p.add_argument("--listen", default="127.0.0.1:8000")
    p.add_argument("--batch", type=int, default=128 if GPU else 32, help="the most replies made at once; arena eval --concurrency asks for as many (%(default)s)")
    p.add_argument("--longest", type=int, default=80, help="the most tokens of a reply")
    p.add_argument("--precision", default="bfloat16" if GPU else "float64", choices=("bfloat16", "float32", "float64"))
    p.add_argument("--example", default="", help="file with the messages of a worked example, a JSON array, which stand before each dialogue")
    a = p.parse_args()
    example = json.loads(Path(a.example).read_text(encoding="utf-8")) if a.example else []
    serve(a.listen, Student(a.model, a.batch, a.longest, a.precision, example).answer)


if __name__ == "__main__":
    main()
