package kl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/array"
)

// Row is a model's distribution of the next token at one position.
type Row struct {
	Prompt   string
	Position int
	Network  string
	// Full has the log-probabilities of all tokens, indexed by their id. Top has those of some
	// tokens. One of the two is nil.
	Full []float64
	Top  []Token
	// Sampled is what a run of `arena eval` recorded at the position. It is nil for any other
	// file.
	Sampled *Sampled
}

// NewRow returns a row with the likeliest tokens at one position. It returns an error if the
// tokens are not part of a distribution.
func NewRow(prompt string, position int, top []Token) (*Row, error) {
	if err := checkTokens(top); err != nil {
		return nil, fmt.Errorf("prompt %q, position %d: %w", prompt, position, err)
	}
	return &Row{
		Prompt:   prompt,
		Position: position,
		Top:      top,
	}, nil
}

// tokens yields the ids and log-probabilities of the row's tokens.
func (r *Row) tokens() iter.Seq2[int, float64] {
	if r.Full != nil {
		return slices.All(r.Full)
	}
	return func(yield func(int, float64) bool) {
		for _, t := range r.Top {
			if !yield(t.ID, t.LogP) {
				return
			}
		}
	}
}

// logP returns the log-probability of the token with this id. ok is false if the row does not
// have the token.
func (r *Row) logP(id int) (logP float64, ok bool) {
	if r.Full != nil {
		return r.Full[id], true
	}
	i := slices.IndexFunc(r.Top, func(t Token) bool {
		return t.ID == id
	})
	if i < 0 {
		return 0, false
	}
	return r.Top[i].LogP, true
}

// totalProbability returns the sum of the probabilities of the row's tokens.
func totalProbability(r *Row) float64 {
	sum := 0.0
	for _, logP := range r.tokens() {
		sum += math.Exp(logP)
	}
	return sum
}

// maxLine is the maximum length of a line in bytes. 64 MiB are enough for 2 million numbers of
// 24 characters.
const maxLine = 64 << 20

// Rows yields the positions of a file in order. Files that end in .npy and .safetensors are
// arrays of logits or log-probabilities. Folders are runs of `arena eval` with their tokens. All
// other files are JSON lines. A row is valid until the next one is read.
func Rows(path string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		err := read(path, func(r *Row) bool {
			return yield(r, nil)
		})
		if err != nil {
			yield(nil, fmt.Errorf("%s: %w", path, err))
		}
	}
}

func read(path string, yield func(*Row) bool) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return readRun(path, yield)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	if ext := filepath.Ext(path); ext != ".npy" && ext != ".safetensors" {
		return readLines(f, yield)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	arrays, err := array.Read(f, info.Size())
	if err != nil {
		return err
	}
	for _, a := range arrays {
		if more, err := readArray(a, yield); err != nil || !more {
			return err
		}
	}
	return nil
}

// readArray yields a row for each position of an array. An array of two dimensions is one
// prompt. In an array of three dimensions, the first dimension is the prompts. more is false if
// yield ended the loop.
func readArray(a *array.Array, yield func(*Row) bool) (more bool, err error) {
	positions := a.Rows
	n := len(a.Shape)
	if n > 2 {
		positions = a.Shape[n-2]
	}
	row := &Row{Full: make([]float64, a.Columns)}
	for i := range a.Rows {
		row.Prompt = a.Name
		row.Position = i % positions
		if n > 2 {
			row.Prompt = strings.TrimPrefix(a.Name+"/"+strconv.Itoa(i/positions), "/")
		}
		if err = a.Row(i, row.Full); err == nil {
			err = LogSoftmax(row.Full)
		}
		if err != nil {
			return false, fmt.Errorf("prompt %q, position %d: %w", row.Prompt, row.Position, err)
		}
		if !yield(row) {
			return false, nil
		}
	}
	return true, nil
}

func readLines(r io.Reader, yield func(*Row) bool) error {
	var network contest.Network
	for l, err := range arena.Lines(r, maxLine) {
		var row *Row
		if err == nil {
			row, err = parse(l.Text)
		}
		if err == nil {
			err = network.Add(row.Network)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", l.Number, err)
		}
		if !yield(row) {
			return nil
		}
	}
	return nil
}

// line is a JSON line of an input file: the probabilities of the next token at one position of a
// prompt, as logits, as log-probabilities or as pairs in top. The prompt is a text or a number.
type line struct {
	Prompt   any                 `json:"prompt"`
	Position int                 `json:"position"`
	Network  string              `json:"network"`
	Logits   []*float64          `json:"logits"`
	LogProbs []*float64          `json:"logprobs"`
	Top      [][]json.RawMessage `json:"top"`
}

func parse(text []byte) (*Row, error) {
	l := line{Prompt: ""}
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, fmt.Errorf("read position: %w", err)
	}
	row := &Row{
		Prompt:   fmt.Sprint(l.Prompt),
		Position: l.Position,
		Network:  l.Network,
	}
	var err error
	switch {
	case l.Logits != nil:
		row.Full, err = fromLogits(l.Logits)
	case l.Top != nil:
		row.Top, err = l.tokens()
	case l.LogProbs != nil:
		row.Full, err = fromLogProbs(l.LogProbs)
	default:
		err = errors.New("none of logits, logprobs and top is given")
	}
	if err != nil {
		return nil, fmt.Errorf("prompt %q, position %d: %w", row.Prompt, row.Position, err)
	}
	return row, nil
}

// fromLogits converts logits to log-probabilities. A null in the JSON means an impossible token.
func fromLogits(logits []*float64) ([]float64, error) {
	if len(logits) == 0 || len(logits) > array.MaxColumns {
		return nil, fmt.Errorf("%w: of %d tokens", ErrValues, len(logits))
	}
	out := make([]float64, len(logits))
	for i, v := range logits {
		out[i] = math.Inf(-1)
		if v != nil {
			out[i] = *v
		}
	}
	return out, LogSoftmax(out)
}

// fromLogProbs returns the log-probabilities of the full vocabulary. It returns an error if the
// probabilities do not add up to 1, such as those of some tokens only. Normalising such values
// would hide the missing probability.
func fromLogProbs(values []*float64) ([]float64, error) {
	sum := 0.0
	for _, v := range values {
		if v != nil {
			sum += math.Exp(*v)
		}
	}
	if math.Abs(sum-1) > 1e-3 {
		return nil, fmt.Errorf("%w: probabilities add up to %.4f; give some of them as top: [[id, logprob], …]", ErrValues, sum)
	}
	return fromLogits(values)
}

// tokens parses l.Top, a JSON list of pairs [token id, log-probability] such as [[15, -0.7]]. It
// returns an error for any other form or if the probabilities are invalid.
func (l *line) tokens() ([]Token, error) {
	tokens := make([]Token, 0, len(l.Top))
	for _, pair := range l.Top {
		if len(pair) != 2 {
			return nil, errors.New("top is a list of [id, logprob]")
		}
		id, err := strconv.Atoi(string(pair[0]))
		if err != nil {
			return nil, fmt.Errorf("token id %.40s is no whole number: ids as text match none", pair[0])
		}
		logP, err := strconv.ParseFloat(string(pair[1]), 64)
		if err != nil {
			return nil, fmt.Errorf("token %d: log-probability %.40s", id, pair[1])
		}
		tokens = append(tokens, Token{id, logP})
	}
	return tokens, checkTokens(tokens)
}

// checkTokens returns an error if there are no tokens, if a token occurs twice, or if the total
// probability is above 1.
func checkTokens(tokens []Token) error {
	seen := map[int]bool{}
	for _, t := range tokens {
		if seen[t.ID] {
			return fmt.Errorf("%w: token %d comes twice", ErrValues, t.ID)
		}
		seen[t.ID] = true
	}
	sum := totalProbability(&Row{Top: tokens})
	isValid := sum <= 1+1e-3 // false for NaN
	if len(tokens) == 0 || !isValid {
		return fmt.Errorf("%w: %d tokens have probability %.4f", ErrValues, len(tokens), sum)
	}
	return nil
}
