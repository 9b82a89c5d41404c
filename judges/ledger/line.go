package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/wrong"
)

const (
	suffix = ".jsonl"
	// version is that of a line.
	version = 3
	// maxLine bounds a line, in bytes: a reply is bounded by its client.
	maxLine = 256 << 20
)

// entry is an exchange as a line without its long texts.
type entry struct {
	Version int `json:"version"`
	Exchange
	Prompt        int      `json:"prompt_tokens"`
	Completion    int      `json:"completion_tokens"`
	USD           *float64 `json:"cost_usd"`
	AskPrompt     int      `json:"ask_prompt_tokens"`
	AskCompletion int      `json:"ask_completion_tokens"`
	AskUSD        *float64 `json:"ask_cost_usd"`
}

// line is an exchange as a line. Requests repeat their instructions word by word
// and are compressed; replies stay readable.
type line struct {
	entry
	Request []byte `json:"request_zstd"`
	Reply   string `json:"reply"`
}

// The coders are safe for concurrent use and hold no state between calls.
var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decompressor, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
)

func encode(e Exchange) ([]byte, error) {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	err := to.Encode(line{entry{
		version, e, e.Tokens.Prompt, e.Tokens.Completion, e.Tokens.USD, e.Total.Prompt, e.Total.Completion, e.Total.USD,
	}, compressor.EncodeAll(e.Request, []byte{}), string(e.Reply)})
	return b.Bytes(), err
}

func (e *entry) exchange() Exchange {
	e.Tokens, e.Total = Spent{e.Prompt, e.Completion, e.USD}, Spent{e.AskPrompt, e.AskCompletion, e.AskUSD}
	return e.Exchange
}

// eachLine visits the exchanges of a file from an offset on, without their long
// texts. A last line that is not whole is being written, or was when its process
// was killed, and is none.
func eachLine(path string, from int64, visit func(offset int64, size int, e Exchange)) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	if _, err = f.Seek(from, io.SeekStart); err != nil {
		return err
	}
	var torn error
	for l, err := range arena.Lines(f, maxLine) {
		if err = errors.Join(torn, err); err != nil {
			return err
		}
		switch e, bad := parseEntry(l.Text); {
		case bad != nil:
			torn = fmt.Errorf("the line at byte %d is no exchange: %w", from+l.Offset, bad)
			if !begun(l.Text) {
				return torn
			}
		case e.Version != version:
			return fmt.Errorf("the line at byte %d has version %d, not %d: written by a later version of arena, or by another program", from+l.Offset, e.Version, version)
		default:
			visit(from+l.Offset, len(l.Text), e.exchange())
		}
	}
	return nil
}

// parseEntry reads a line without its long texts, which stand last in it: for
// them it is enough to be JSON.
func parseEntry(text []byte) (e entry, err error) {
	if !gjson.ValidBytes(text) {
		return e, errors.New("no JSON")
	}
	if head, _, found := bytes.Cut(text, []byte(`,"request_zstd":`)); found {
		text = append(head[:len(head):len(head)], '}')
	}
	return e, json.Unmarshal(text, &e)
}

// begun reports whether text is how a line begins. Where a machine crashed, zeros
// may follow.
func begun(text []byte) bool {
	const opening = `{"version":`
	text = bytes.TrimRight(text, "\x00")
	return strings.HasPrefix(opening, string(text[:min(len(text), len(opening))]))
}

// readLine reads the exchange in a line of so many bytes.
func readLine(path string, offset int64, size int) (Exchange, error) {
	f, err := os.Open(path)
	if err != nil {
		return Exchange{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	b := make([]byte, size)
	if _, err = f.ReadAt(b, offset); err != nil {
		return Exchange{}, err
	}
	var l line
	if err = json.Unmarshal(b, &l); err != nil {
		return Exchange{}, err
	}
	e := l.exchange()
	e.Reply = []byte(l.Reply)
	e.Request, err = decompress(l.Request)
	return e, err
}

func decompress(request []byte) ([]byte, error) {
	whole, err := decompressor.DecodeAll(request, nil)
	return whole, wrong.Wrap("decompress request", err)
}
