package traces

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/digest"
)

// Stdin is the name of standard input where a day is asked for.
const Stdin = "-"

// Input is one file of a day.
type Input struct {
	// Path opens the file and names it in messages; it never reaches an output.
	Path string
	// Name is the slash path from the day's own name on. Only the path rule
	// reads it.
	Name string
	// SHA256 is the hex hash of the file as it is stored; set by Hash.
	SHA256 string
	// Meta is what run.json beside the file says, MetaSHA256 the hash of that
	// file; empty where there is none.
	Meta       Meta
	MetaSHA256 string
	// Bytes is the size as stored.
	Bytes int64

	fsys    fs.FS // where set, the file is at in it
	at      string
	refused Reason // why the file may not be opened
	badMeta bool
}

// Meta is the metadata of a run, empty where unknown.
type Meta struct {
	RunID string
	Agent arena.Agent
	// Findings are the subnet's own of the run, Attempts those of its attempts by their problems.
	arena.Findings
	Attempts map[string]arena.Findings
	// Network is mainnet, testnet or local; empty where the file does not say.
	Network string
}

// MetaName is the file beside a run's attempts that says whose they are.
const MetaName = "run.json"

// Hash fills SHA256, reading the file once. A file that may not be opened is
// known by the reason, so that it is not taken for an empty one.
func (in *Input) Hash(ctx context.Context) error {
	sum := sha256.New()
	sum.Write([]byte(in.refused))
	if in.refused == "" {
		f, err := in.open()
		if err != nil {
			return fmt.Errorf("hash input %s: %w", in.Path, err)
		}
		_, err = io.Copy(sum, withContext(ctx, f))
		if err = errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("hash input %s: %w", in.Path, err)
		}
	}
	in.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// Spool writes all of src to a new file in folder dir and makes it the input,
// hashed. The caller removes the file at Path when done.
func (in *Input) Spool(ctx context.Context, src io.Reader, dir string) (err error) {
	f, err := os.CreateTemp(dir, "stdin-*.spool")
	if err != nil {
		return fmt.Errorf("spool standard input: %w", err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), withContext(ctx, src))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("spool standard input to %s: %w", f.Name(), errors.Join(err, os.Remove(f.Name())))
	}
	*in = Input{Path: f.Name(), Name: Stdin, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))}
	return nil
}

// Title names the input for people.
func (in *Input) Title() string {
	if in.Name == Stdin {
		return "standard input"
	}
	return in.Path
}

func (in *Input) open() (io.ReadCloser, error) {
	if in.fsys != nil {
		return in.fsys.Open(in.at)
	}
	return os.Open(in.Path)
}

// maxMetaBytes is far above any run.json (some hundred bytes).
const maxMetaBytes = 1 << 20

func readMeta(fsys fs.FS, name string) (m Meta, sha string, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return Meta{}, "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxMetaBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return Meta{}, "", err
	}
	m, err = parseMeta(text)
	return m, digest.SHA256(text), err
}

func parseMeta(text []byte) (m Meta, err error) {
	if len(text) > maxMetaBytes {
		return Meta{}, fmt.Errorf("longer than %d bytes", maxMetaBytes)
	}
	c := cursor.New(string(mendUTF8(text)), DefaultLimits().cursor())
	run := gjson.Parse(string(c.Raw()))
	if err := c.End(); err != nil {
		return Meta{}, err
	}
	if !run.IsObject() {
		return Meta{}, errors.New("not an object")
	}
	m = Meta{RunID: id(run, "eval_run_id"), Network: run.Get("network").Str, Agent: arena.Agent{
		VersionID: id(run, "agent_version_id"), Hotkey: id(run, "miner_hotkey"), Suite: id(run, "suite_version"), StartedAt: id(run, "started_at"),
	}}
	m.Findings = arena.Findings{
		Quality: share(run, "reasoning_quality"), Coefficient: share(run, "reasoning_coefficient"), Score: share(run, "validator_score"),
	}
	if scores := run.Get("problem_scores"); scores.Exists() {
		m.Attempts = map[string]arena.Findings{}
		for problem, v := range scores.ForEach {
			m.Attempts[problem.Str] = arena.Findings{
				Score: share(v, "score"), Quality: share(v, "reasoning_score"), Category: strings.ToLower(v.Get("category").Str),
			}
		}
	}
	return m, nil
}

// id is a member that names something, which may be written as a number.
func id(of gjson.Result, name string) string {
	v := of.Get(name)
	if v.Type == gjson.Number {
		return v.Raw
	}
	return v.Str
}

func share(of gjson.Result, name string) *float64 {
	if v := of.Get(name); v.Type == gjson.Number && v.Num >= 0 && v.Num <= 1 {
		return &v.Num
	}
	return nil
}

func withContext(ctx context.Context, r io.Reader) io.Reader { return &contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context //nolint:containedctx // io.Reader asks without one
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
