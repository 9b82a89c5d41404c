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

// Row is what a model said of one position: log-probabilities of all tokens, or
// those of some.
type Row struct {
	Prompt   string
	Position int
	Network  string
	Full     []float64
	Top      []Token
	// Of is nil where the file is no run of `arena eval`.
	Of *Sampled
}

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

func (r *Row) logP(id int) (float64, bool) {
	if r.Full != nil {
		return r.Full[id], true
	}
	i := slices.IndexFunc(r.Top, func(t Token) bool { return t.ID == id })
	if i < 0 {
		return 0, false
	}
	return r.Top[i].LogP, true
}

// mass is the probability of all tokens together that a row names.
func mass(r *Row) (sum float64) {
	for _, logP := range r.tokens() {
		sum += math.Exp(logP)
	}
	return sum
}

// maxLine holds a vocabulary of 2 million numbers of 24 characters.
const maxLine = 64 << 20

// Rows gives the positions of a file in its order. Files that end in .npy and
// .safetensors are arrays of logits or log-probabilities, folders are runs of
// `arena eval` that kept their tokens, all others JSON lines.
// A row's memory is used again for the next one.
func Rows(path string) iter.Seq2[*Row, error] {
	return func(yield func(*Row, error) bool) {
		err := read(path, func(r *Row) bool { return yield(r, nil) })
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
	all, err := array.Read(f, info.Size())
	for more := true; err == nil && more && len(all) > 0; all = all[1:] {
		more, err = readArray(all[0], yield)
	}
	return err
}

// readArray takes a tensor for a prompt, and of one with three dimensions each
// index of the first.
func readArray(a *array.Array, yield func(*Row) bool) (more bool, err error) {
	positions, n := a.Rows, len(a.Shape)
	if n > 2 {
		positions = a.Shape[n-2]
	}
	row := &Row{Full: make([]float64, a.Columns)}
	for i := range a.Rows {
		row.Prompt, row.Position = a.Name, i%positions
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

func readLines(in io.Reader, yield func(*Row) bool) error {
	var network contest.Network
	for l, err := range arena.Lines(in, maxLine) {
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

// line is one position. The prompt is a text or a number.
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
	row := &Row{Prompt: fmt.Sprint(l.Prompt), Position: l.Position, Network: l.Network}
	var err error
	switch {
	case l.Logits != nil:
		row.Full, err = full(l.Logits)
	case l.Top != nil:
		row.Top, err = l.top()
	case l.LogProbs != nil:
		row.Full, err = whole(l.LogProbs)
	default:
		err = errors.New("none of logits, logprobs and top is given")
	}
	if err != nil {
		return nil, fmt.Errorf("prompt %q, position %d: %w", row.Prompt, row.Position, err)
	}
	return row, nil
}

// full are log-probabilities of logits, null being a token that cannot come.
func full(logits []*float64) ([]float64, error) {
	if len(logits) == 0 || len(logits) > array.MaxColumns {
		return nil, fmt.Errorf("%w: of %d tokens", ErrValues, len(logits))
	}
	all := make([]float64, len(logits))
	for i, v := range logits {
		all[i] = math.Inf(-1)
		if v != nil {
			all[i] = *v
		}
	}
	return all, LogSoftmax(all)
}

// whole are log-probabilities of the whole vocabulary. Those of a part are refused:
// renormalised they would hide what is missing.
func whole(values []*float64) ([]float64, error) {
	sum := 0.0
	for _, v := range values {
		if v != nil {
			sum += math.Exp(*v)
		}
	}
	if math.Abs(sum-1) > 1e-3 {
		return nil, fmt.Errorf("%w: probabilities add up to %.4f; give some of them as top: [[id, logprob], …]", ErrValues, sum)
	}
	return full(values)
}

func (l *line) top() ([]Token, error) {
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
	return tokens, distribution(tokens)
}

// distribution holds that tokens come once, and have probabilities of at most 1
// together.
func distribution(tokens []Token) error {
	seen := map[int]bool{}
	for _, t := range tokens {
		if seen[t.ID] {
			return fmt.Errorf("%w: token %d comes twice", ErrValues, t.ID)
		}
		seen[t.ID] = true
	}
	if sum := mass(&Row{Top: tokens}); len(tokens) == 0 || !(sum <= 1+1e-3) {
		return fmt.Errorf("%w: %d tokens have probability %.4f", ErrValues, len(tokens), sum)
	}
	return nil
}
