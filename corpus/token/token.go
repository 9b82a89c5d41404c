// Package token counts tokens as a model's own tokenizer.json does. It reads
// the byte-level BPE family (GPT-2, Qwen, Llama 3, DeepSeek and others) and
// refuses every other kind by name: a wrong count would pass for a true one.
package token

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/dlclark/regexp2"
	"golang.org/x/text/unicode/norm"
)

// gpt2 is the split of a ByteLevel pre-tokenizer with use_regex.
const gpt2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// Tokenizer counts. It belongs to one goroutine: it remembers the words that it
// has seen.
type Tokenizer struct {
	name   string
	ranks  map[[2]string]int
	vocab  map[string]int
	splits []*regexp2.Regexp
	added  *regexp.Regexp
	nfc    bool
	seen   map[string]int
}

type file struct {
	Normalizer   *part `json:"normalizer"`
	PreTokenizer *part `json:"pre_tokenizer"`
	Added        []struct {
		Content string `json:"content"`
		LStrip  bool   `json:"lstrip"`
		RStrip  bool   `json:"rstrip"`
		Single  bool   `json:"single_word"`
	} `json:"added_tokens"`
	Model struct {
		Type         string            `json:"type"`
		Vocab        map[string]int    `json:"vocab"`
		Merges       []json.RawMessage `json:"merges"`
		IgnoreMerges bool              `json:"ignore_merges"`
	} `json:"model"`
}

// part is a normalizer or pre-tokenizer; Sequence holds several.
type part struct {
	Type          string `json:"type"`
	Normalizers   []part `json:"normalizers"`
	Pretokenizers []part `json:"pretokenizers"`
	Pattern       struct {
		Regex  string
		String string
	} `json:"pattern"`
	Behavior       string `json:"behavior"`
	Invert         bool   `json:"invert"`
	UseRegex       *bool  `json:"use_regex"`
	AddPrefixSpace bool   `json:"add_prefix_space"`
}

// Read reads a tokenizer.json. name stands for the counter in every row.
func Read(name string, data []byte) (*Tokenizer, error) {
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("parse tokenizer: %w", err)
	}
	if f.Model.Type != "BPE" {
		return nil, fmt.Errorf("read tokenizer: its model is %q; only byte-level BPE is read", f.Model.Type)
	}
	t := &Tokenizer{name: name, vocab: f.Model.Vocab, ranks: make(map[[2]string]int, len(f.Model.Merges)), seen: map[string]int{}}
	if !f.Model.IgnoreMerges {
		t.vocab = nil // only models that ignore merges look a whole word up first
	}
	for i, raw := range f.Model.Merges {
		pair, err := merge(raw)
		if err != nil {
			return nil, fmt.Errorf("read merge %d: %w", i, err)
		}
		t.ranks[pair] = i
	}
	if n := f.Normalizer; n != nil && (n.Type != "Sequence" || len(n.Normalizers) > 0) {
		if t.nfc = n.Type == "NFC"; !t.nfc {
			return nil, fmt.Errorf("read tokenizer: normalizer %q is not known", n.Type)
		}
	}
	byteLevel, err := t.preTokenizer(f.PreTokenizer)
	if err != nil {
		return nil, err
	}
	if !byteLevel {
		return nil, errors.New("read tokenizer: it is not byte-level")
	}
	contents := make([]string, len(f.Added))
	for i, a := range f.Added {
		if a.LStrip || a.RStrip || a.Single {
			return nil, fmt.Errorf("read tokenizer: added token %q strips or wants word bounds", a.Content)
		}
		contents[i] = a.Content
	}
	t.added = addedTokens(contents)
	return t, nil
}

// merge reads "a b" or ["a","b"].
func merge(raw json.RawMessage) ([2]string, error) {
	var pair [2]string
	if len(raw) > 0 && raw[0] == '[' {
		return pair, json.Unmarshal(raw, &pair)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return pair, err
	}
	a, b, ok := strings.Cut(s, " ")
	if !ok {
		return pair, fmt.Errorf("%q is no pair", s)
	}
	return [2]string{a, b}, nil
}

// preTokenizer reads the splits and reports whether bytes come last.
func (t *Tokenizer) preTokenizer(p *part) (byteLevel bool, err error) {
	if p == nil {
		return false, nil
	}
	switch p.Type {
	case "Sequence":
		for i := range p.Pretokenizers {
			last, bad := t.preTokenizer(&p.Pretokenizers[i])
			if bad != nil {
				return false, bad
			}
			byteLevel = byteLevel || last
		}
		return byteLevel, nil
	case "Split":
		if p.Behavior != "Isolated" || p.Invert {
			return false, fmt.Errorf("read tokenizer: split behaviour %q is not known", p.Behavior)
		}
		return false, t.split(cmp.Or(p.Pattern.Regex, regexp2.Escape(p.Pattern.String)))
	case "ByteLevel":
		if p.AddPrefixSpace {
			return false, errors.New("read tokenizer: add_prefix_space is not known")
		}
		if p.UseRegex == nil || *p.UseRegex {
			err = t.split(gpt2)
		}
		return true, err
	default:
		return false, fmt.Errorf("read tokenizer: pre-tokenizer %q is not known", p.Type)
	}
}

func (t *Tokenizer) split(expr string) error {
	re, err := regexp2.Compile(expr, regexp2.RE2|regexp2.Unicode)
	if err != nil {
		return fmt.Errorf("read tokenizer: split %q: %w", expr, err)
	}
	t.splits = append(t.splits, re)
	return nil
}

// Clone is a tokenizer of the same tables with a memory of its own, for
// another goroutine.
func (t *Tokenizer) Clone() *Tokenizer {
	c := *t
	c.seen = map[string]int{}
	return &c
}

// Name is the counter's name.
func (t *Tokenizer) Name() string { return t.name }

// Count is the number of tokens of a text, without those that a model adds at
// its start or end.
func (t *Tokenizer) Count(text string) int {
	n, at := 0, 0
	if t.added != nil {
		for _, m := range t.added.FindAllStringIndex(text, -1) {
			n += t.between(text[at:m[0]]) + 1
			at = m[1]
		}
	}
	return n + t.between(text[at:])
}

func (t *Tokenizer) between(text string) int {
	if t.nfc {
		text = norm.NFC.String(text)
	}
	return t.words(text, t.splits)
}

// words splits by each pattern in turn; what lies between matches is a word
// too.
func (t *Tokenizer) words(text string, splits []*regexp2.Regexp) int {
	if text == "" {
		return 0
	}
	if len(splits) == 0 {
		return t.word(text)
	}
	n, runes, at := 0, []rune(text), 0
	for m, err := splits[0].FindRunesMatch(runes); m != nil && err == nil; m, err = splits[0].FindNextMatch(m) {
		n += t.words(string(runes[at:m.Index]), splits[1:])
		at = m.Index + m.Length
		n += t.words(string(runes[m.Index:at]), splits[1:])
	}
	return n + t.words(string(runes[at:]), splits[1:])
}
