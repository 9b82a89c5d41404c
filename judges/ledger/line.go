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
	"github.com/trajectory-arena/arena/internal/asjson"
	"github.com/trajectory-arena/arena/internal/wrong"
)

const (
	// suffix is the extension of the names of the ledger's files, which record every request to a
	// judge model and its reply.
	suffix = ".jsonl"
	// version is the version of the format of a line in the ledger's files. A file with another
	// version is refused.
	version = 3
	// maxLine is the maximum number of bytes of a line in the ledger's files, 256 MiB. The client
	// limits replies to far less.
	maxLine = 256 << 20
)

// entry has the fields of a ledger line (one model request with its reply) other than the texts of
// request and reply.
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

// line is an exchange as a line of JSON. Requests are compressed, since all of them repeat the
// instructions. Replies stay readable.
type line struct {
	entry
	Request []byte `json:"request_zstd"`
	Reply   string `json:"reply"`
}

// compressor and decompressor are safe for concurrent use and keep no state between calls.
var (
	compressor, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	decompressor, _ = zstd.NewReader(
		nil,
		zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxMemory(64<<20),
	)
)

func encode(e Exchange) ([]byte, error) {
	l := line{
		entry: entry{
			Version:       version,
			Exchange:      e,
			Prompt:        e.Tokens.Prompt,
			Completion:    e.Tokens.Completion,
			USD:           e.Tokens.USD,
			AskPrompt:     e.Total.Prompt,
			AskCompletion: e.Total.Completion,
			AskUSD:        e.Total.USD,
		},
		Request: compressor.EncodeAll(e.Request, []byte{}),
		Reply:   string(e.Reply),
	}
	var b bytes.Buffer
	err := asjson.NewEncoder(&b).Encode(l)
	return b.Bytes(), err
}

func (e *entry) exchange() Exchange {
	e.Tokens = Spent{e.Prompt, e.Completion, e.USD}
	e.Total = Spent{e.AskPrompt, e.AskCompletion, e.AskUSD}
	return e.Exchange
}

// eachLine calls visit for each exchange of a file from the byte offset start on, without
// requests and replies. It skips an incomplete last line, which a process is still writing or
// could not finish.
func eachLine(
	path string,
	start int64,
	visit func(offset int64, size int, e Exchange),
) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	if _, err = f.Seek(start, io.SeekStart); err != nil {
		return err
	}
	var incomplete error
	for l, err := range arena.Lines(f, maxLine) {
		if err = errors.Join(incomplete, err); err != nil {
			return err
		}
		offset := start + l.Offset
		e, err := parseEntry(l.Text)
		if err != nil {
			err = fmt.Errorf("the line at byte %d is no exchange: %w", offset, err)
			if !isBeginning(l.Text) {
				return err
			}
			incomplete = err // returned if another line follows
			continue
		}
		if e.Version != version {
			const format = "the line at byte %d has version %d, not %d: written by a later version of arena, or by another program"
			return fmt.Errorf(format, offset, e.Version, version)
		}
		visit(offset, len(l.Text), e.exchange())
	}
	return nil
}

// parseEntry parses a line of the ledger (one model request with its reply) without the compressed
// request and the reply, which are its last fields. It returns an error if the line is not valid
// JSON or has a field of a wrong type.
func parseEntry(text []byte) (e entry, err error) {
	if !gjson.ValidBytes(text) {
		return e, errors.New("no JSON")
	}
	if head, _, ok := bytes.Cut(text, []byte(`,"request_zstd":`)); ok {
		text = append(head[:len(head):len(head)], '}')
	}
	err = json.Unmarshal(text, &e)
	return e, err
}

// isBeginning reports whether text, an incomplete last line of a ledger file, can be the beginning
// of a valid line. After a crash of the machine it may end in zero bytes.
func isBeginning(text []byte) bool {
	const opening = `{"version":`
	text = bytes.TrimRight(text, "\x00")
	return strings.HasPrefix(opening, string(text[:min(len(text), len(opening))]))
}

// readLine reads one exchange, with request and reply, from the line of size bytes at this
// offset.
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
	e.Request, err = decompressor.DecodeAll(l.Request, nil)
	return e, wrong.Wrap("decompress request", err)
}
