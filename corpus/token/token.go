// Package token counts tokens as a model's own tokenizer.json does. It reads byte-level BPE
// tokenizers (GPT-2, Qwen, Llama 3, DeepSeek and others). For any other kind it returns an error
// with the name of the kind, since a wrong count would not be noticed.
package token

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/dlclark/regexp2"
	"golang.org/x/text/unicode/norm"
)

// gpt2Pattern is the regular expression by which GPT-2 splits a text into words. A ByteLevel
// pre-tokenizer uses it unless use_regex is false.
const gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// Tokenizer counts the tokens of texts. It caches the counts of words and is not safe for
// concurrent use (see Clone).
type Tokenizer struct {
	name   string
	ranks  map[[2]string]int // merges, in their order
	vocab  map[string]int    // nil unless the model ignores merges for known words
	splits []*regexp2.Regexp
	added  *regexp.Regexp // nil if none
	nfc    bool
	counts map[string]int // cache, by word
	// deadline is when the patterns must be done with the current text.
	deadline time.Time
}

// tokenizerFile is the part of a tokenizer.json that affects the number of tokens.
type tokenizerFile struct {
	Normalizer   *component   `json:"normalizer"`
	PreTokenizer *component   `json:"pre_tokenizer"`
	Added        []addedToken `json:"added_tokens"`
	Model        struct {
		Type         string            `json:"type"`
		Vocab        map[string]int    `json:"vocab"`
		Merges       []json.RawMessage `json:"merges"`
		IgnoreMerges bool              `json:"ignore_merges"`
	} `json:"model"`
}

type addedToken struct {
	Content string `json:"content"`
	LStrip  bool   `json:"lstrip"`
	RStrip  bool   `json:"rstrip"`
	Single  bool   `json:"single_word"`
}

// component is a normalizer or pre-tokenizer in a tokenizer.json. A component of type Sequence
// contains other components.
type component struct {
	Type          string      `json:"type"`
	Normalizers   []component `json:"normalizers"`
	Pretokenizers []component `json:"pretokenizers"`
	Pattern       struct {
		Regex  string
		String string
	} `json:"pattern"`
	Behavior       string `json:"behavior"`
	Invert         bool   `json:"invert"`
	UseRegex       *bool  `json:"use_regex"`
	AddPrefixSpace bool   `json:"add_prefix_space"`
}

// Parse reads a tokenizer.json. The name identifies the tokenizer as the token counter of corpus
// rows.
func Parse(name string, data []byte) (*Tokenizer, error) {
	var f tokenizerFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("parse tokenizer: %w", err)
	}
	if f.Model.Type != "BPE" {
		return nil, fmt.Errorf("read tokenizer: its model is %q; only byte-level BPE is read", f.Model.Type)
	}
	t := &Tokenizer{name: name, counts: map[string]int{}}
	if f.Model.IgnoreMerges {
		t.vocab = f.Model.Vocab
	}
	if err := t.addMerges(f.Model.Merges); err != nil {
		return nil, err
	}
	if err := t.setNormalizer(f.Normalizer); err != nil {
		return nil, err
	}
	byteLevel, err := t.addPreTokenizer(f.PreTokenizer)
	if err != nil {
		return nil, err
	}
	if !byteLevel {
		return nil, errors.New("read tokenizer: it is not byte-level")
	}
	if err = t.setAddedTokens(f.Added); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Tokenizer) addMerges(merges []json.RawMessage) error {
	t.ranks = make(map[[2]string]int, len(merges))
	for i, raw := range merges {
		pair, err := parseMerge(raw)
		if err != nil {
			return fmt.Errorf("read merge %d: %w", i, err)
		}
		t.ranks[pair] = i
	}
	return nil
}

// parseMerge parses a merge: a pair of tokens in the form "a b" or ["a","b"].
func parseMerge(raw json.RawMessage) ([2]string, error) {
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

func (t *Tokenizer) setNormalizer(n *component) error {
	isNone := n == nil || n.Type == "Sequence" && len(n.Normalizers) == 0
	if isNone {
		return nil
	}
	if n.Type != "NFC" {
		return fmt.Errorf("read tokenizer: normalizer %q is not known", n.Type)
	}
	t.nfc = true
	return nil
}

// addPreTokenizer appends the regular expressions by which a pre-tokenizer splits texts to
// t.splits. byteLevel reports whether the pre-tokenizer is a ByteLevel one or contains one. A
// kind or setting that is not implemented is an error.
func (t *Tokenizer) addPreTokenizer(p *component) (byteLevel bool, err error) {
	if p == nil {
		return false, nil
	}
	switch p.Type {
	case "Sequence":
		for i := range p.Pretokenizers {
			isByteLevel, addErr := t.addPreTokenizer(&p.Pretokenizers[i])
			if addErr != nil {
				return false, addErr
			}
			byteLevel = byteLevel || isByteLevel
		}
		return byteLevel, nil
	case "Split":
		if p.Behavior != "Isolated" || p.Invert {
			return false, fmt.Errorf("read tokenizer: split behaviour %q is not known", p.Behavior)
		}
		return false, t.addSplit(cmp.Or(p.Pattern.Regex, regexp2.Escape(p.Pattern.String)))
	case "ByteLevel":
		if p.AddPrefixSpace {
			return false, errors.New("read tokenizer: add_prefix_space is not known")
		}
		if p.UseRegex == nil || *p.UseRegex {
			err = t.addSplit(gpt2Pattern)
		}
		return true, err
	default:
		return false, fmt.Errorf("read tokenizer: pre-tokenizer %q is not known", p.Type)
	}
}

// ErrSlow is wrapped by the error if a pattern of the tokenizer takes too long for a text.
var ErrSlow = errors.New("count tokens: a pattern of tokenizer.json is too slow")

// matchTimeout is the maximum time for one match of a tokenizer's pattern. A match usually takes
// microseconds, but a pattern in an untrusted file can take years. byteTimeout for each byte of a
// text limits all its matches together, beside one matchTimeout, since a pattern could take just less
// than matchTimeout at every byte. A byte usually takes half a microsecond.
const (
	matchTimeout = 2 * time.Second
	byteTimeout  = 20 * time.Microsecond
)

func (t *Tokenizer) addSplit(expr string) error {
	re, err := regexp2.Compile(expr, regexp2.RE2|regexp2.Unicode)
	if err != nil {
		return fmt.Errorf("read tokenizer: split %q: %w", expr, err)
	}
	re.MatchTimeout = matchTimeout
	t.splits = append(t.splits, re)
	return nil
}

func (t *Tokenizer) setAddedTokens(tokens []addedToken) error {
	contents := make([]string, len(tokens))
	for i, a := range tokens {
		if a.LStrip || a.RStrip || a.Single {
			return fmt.Errorf("read tokenizer: added token %q strips or wants word bounds", a.Content)
		}
		contents[i] = a.Content
	}
	t.added = addedTokens(contents)
	return nil
}

// Clone returns a tokenizer with the same tables and an empty cache. Each goroutine needs its
// own.
func (t *Tokenizer) Clone() *Tokenizer {
	c := *t
	c.counts = map[string]int{}
	return &c
}

// Name returns the name passed to Parse.
func (t *Tokenizer) Name() string { return t.name }

// Count returns the number of tokens of a text, without tokens that a model adds at the start or
// end. It returns ErrSlow, with the pattern, if a pattern of the tokenizer takes too long for
// the text.
func (t *Tokenizer) Count(text string) (int, error) {
	t.deadline = time.Now().Add(matchTimeout + byteTimeout*time.Duration(len(text))) //nolint:forbidigo // a limit reaches no data
	if t.added == nil {
		return t.countPlain(text)
	}
	total := 0
	end := 0
	for _, m := range t.added.FindAllStringIndex(text, -1) {
		n, err := t.countPlain(text[end:m[0]])
		if err != nil {
			return 0, err
		}
		total += n + 1
		end = m[1]
	}
	n, err := t.countPlain(text[end:])
	return total + n, err
}

// countPlain returns the number of tokens of a text that contains no special tokens (t.added).
func (t *Tokenizer) countPlain(text string) (int, error) {
	if t.nfc {
		text = norm.NFC.String(text)
	}
	return t.countSplit(text, t.splits)
}

// countSplit splits text by the first pattern, each part by the second pattern and so on. It
// returns the total number of tokens of the parts. The text between two matches is a part too.
// The error is ErrSlow if a match takes longer than matchTimeout, or the patterns miss the deadline.
func (t *Tokenizer) countSplit(text string, splits []*regexp2.Regexp) (int, error) {
	if text == "" {
		return 0, nil
	}
	if len(splits) == 0 {
		return t.countWord(text), nil
	}
	total := 0
	end := 0
	runes := []rune(text)
	count := func(part []rune) error {
		n, err := t.countSplit(string(part), splits[1:])
		total += n
		return err
	}
	m, err := splits[0].FindRunesMatch(runes)
	for m != nil && err == nil {
		start := m.Index
		if err = count(runes[end:start]); err != nil {
			return 0, err
		}
		end = start + m.Length
		if err = count(runes[start:end]); err != nil {
			return 0, err
		}
		if m, err = splits[0].FindNextMatch(m); time.Until(t.deadline) < 0 {
			err = ErrSlow
		}
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %q in a text of %d bytes", ErrSlow, splits[0], len(text))
	}
	err = count(runes[end:])
	return total, err
}
