"""Holds a reply to a grammar, as model servers do for structured outputs, with the library of vLLM's backend guidance."""
import llguidance


def spelled(tokenizer, tokens: int) -> llguidance.LLTokenizer:
    """How each token of a tokenizer of transformers is spelled, filled up to as many tokens as the model has."""
    from llguidance.hf import from_tokenizer

    return from_tokenizer(tokenizer, tokens)


class Held:
    def __init__(self, tokenizer: llguidance.LLTokenizer, grammar: str):
        self.matcher = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(grammar))
        self.checked()

    def checked(self) -> None:
        if self.matcher.is_error():
            raise ValueError(self.matcher.get_error())

    def allowed(self) -> bytes:
        """A byte for each token, 0 where it may not come next. At the grammar's end, only the token that ends the reply may."""
        bias = self.matcher.compute_logit_bias()
        self.checked()
        return bias

    def took(self, token: int) -> None:
        self.matcher.consume_token(token)
        self.checked()
