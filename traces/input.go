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
	"golang.org/x/sys/unix"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/traces/results"
)

// Stdin is the name of standard input as a day.
const Stdin = "-"

// Input is one file of a day.
type Input struct {
	// Path opens the file and identifies it in messages. No output has it.
	Path string
	// Name is the slash-separated path that starts with the name of the day. It is only
	// used for the ids in PathIDs.
	Name string
	// SHA256 is the hex checksum of the stored file. Hash sets it.
	SHA256 string
	// Meta is the content of run.json in the same folder, MetaSHA256 its checksum. Both are
	// empty if there is no such file.
	Meta       Meta
	MetaSHA256 string
	// ResultSHA256 is the hash of what evaluators recorded of the attempts in other files, empty if
	// they recorded nothing.
	ResultSHA256 string
	// Bytes is the size of the stored file.
	Bytes int64

	fsys     fs.FS  // the file system of the file; nil for Path
	fsysName string // the name of the file in fsys
	refused  Reason // why the file may not be opened, or empty
	badMeta  bool   // whether run.json could not be read

	attempt *results.Attempt  // the attempt of a trial of Harbor, nil for any other input
	reports []*results.Report // the reports on the attempts, the nearest first
}

// Meta is the metadata of a run. Unknown fields are empty.
type Meta struct {
	RunID string
	Agent arena.Agent
	// Findings are the subnet's scores of the run, Attempts those of its attempts by problem.
	arena.Findings
	Attempts map[string]arena.Findings
	// Network is mainnet, testnet or local.
	Network string
}

// MetaName is the name of the file with the metadata of a run, in the folder of its
// attempts.
const MetaName = "run.json"

// Hash reads the file and sets SHA256. The checksum of a file that may not be opened is
// that of the reason, so that it differs from an empty file.
func (input *Input) Hash(ctx context.Context) error {
	sum := sha256.New()
	sum.Write([]byte(input.refused))
	if input.refused == "" {
		if err := input.copyTo(ctx, sum); err != nil {
			return fmt.Errorf("hash input %s: %w", input.Path, err)
		}
	}
	input.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return nil
}

// Stamp is what the system tells of a file without reading it. A file whose stamp is unchanged has
// the same content, unless its file system does not record changes.
type Stamp struct {
	Inode uint64 `json:"inode"`
	Bytes int64  `json:"bytes"`
	// Modified and Changed are Unix nanoseconds. Programs can set Modified, but not Changed, which
	// is the time of the last write, rename or change of Modified.
	Modified int64 `json:"modified"`
	Changed  int64 `json:"changed"`
}

// Stamp returns the stamp of the file, the zero value if there is none, as for a file that may not be
// opened.
func (input *Input) Stamp() Stamp {
	var st unix.Stat_t
	if input.refused != "" || unix.Stat(input.Path, &st) != nil {
		return Stamp{}
	}
	return Stamp{
		Inode:    st.Ino,
		Bytes:    st.Size,
		Modified: st.Mtim.Nano(),
		Changed:  st.Ctim.Nano(),
	}
}

func (input *Input) copyTo(ctx context.Context, w io.Writer) error {
	f, err := input.open()
	if err != nil {
		return err
	}
	_, err = io.Copy(w, withContext(ctx, f))
	return errors.Join(err, f.Close())
}

// SpoolSuffix ends the names of copies of standard input.
const SpoolSuffix = ".spool"

// Spool writes src to a new file in dir and makes that file the input, with its checksum.
// The caller must remove the file at Path.
func (input *Input) Spool(
	ctx context.Context,
	src io.Reader,
	dir string,
) error {
	f, err := os.CreateTemp(dir, "stdin-*"+SpoolSuffix)
	if err != nil {
		return fmt.Errorf("spool standard input: %w", err)
	}
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, sum), withContext(ctx, src))
	err = errors.Join(err, f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
		return fmt.Errorf("spool standard input to %s: %w", f.Name(), err)
	}
	*input = Input{
		Path:   f.Name(),
		Name:   Stdin,
		Bytes:  n,
		SHA256: hex.EncodeToString(sum.Sum(nil)),
	}
	return nil
}

// Title returns the name of the input for messages.
func (input *Input) Title() string {
	if input.Name == Stdin {
		return "standard input"
	}
	return input.Path
}

func (input *Input) open() (io.ReadCloser, error) {
	if input.fsys != nil {
		return input.fsys.Open(input.fsysName)
	}
	return os.Open(input.Path)
}

// maxMetaBytes is the maximum size of a run.json in bytes. Real files have a few hundred bytes.
const maxMetaBytes = 1 << 20

// readMeta reads a run.json, the metadata of a run, and returns its content and checksum. If the
// content is invalid, it returns the checksum and an error.
func readMeta(fsys fs.FS, name string) (m Meta, sha256 string, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return Meta{}, "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxMetaBytes+1))
	err = errors.Join(err, f.Close())
	if err != nil {
		return Meta{}, "", err
	}
	m, err = parseMeta(text)
	return m, digest.SHA256(text), err
}

func parseMeta(text []byte) (Meta, error) {
	if len(text) > maxMetaBytes {
		return Meta{}, fmt.Errorf("longer than %d bytes", maxMetaBytes)
	}
	c := cursor.New(string(replaceInvalidUTF8(text)), DefaultLimits().cursor())
	run := gjson.Parse(string(c.Raw()))
	if err := c.End(); err != nil {
		return Meta{}, err
	}
	if !run.IsObject() {
		return Meta{}, errors.New("not an object")
	}

	m := Meta{
		RunID:   textOrNumber(run.Get("eval_run_id")),
		Network: run.Get("network").Str,
		Agent: arena.Agent{
			VersionID: textOrNumber(run.Get("agent_version_id")),
			Hotkey:    textOrNumber(run.Get("miner_hotkey")),
			Suite:     textOrNumber(run.Get("suite_version")),
			StartedAt: textOrNumber(run.Get("started_at")),
		},
		Findings: arena.Findings{
			Quality:     fraction(run.Get("reasoning_quality")),
			Coefficient: fraction(run.Get("reasoning_coefficient")),
			Score:       fraction(run.Get("validator_score")),
		},
	}
	if scores := run.Get("problem_scores"); scores.Exists() {
		m.Attempts = map[string]arena.Findings{}
		for problem, v := range scores.ForEach {
			m.Attempts[problem.Str] = arena.Findings{
				Score:    fraction(v.Get("score")),
				Quality:  fraction(v.Get("reasoning_score")),
				Category: strings.ToLower(v.Get("category").Str),
			}
		}
	}
	return m, nil
}

// textOrNumber returns a JSON string, or a JSON number as it is written. It returns "" for any
// other value.
func textOrNumber(v gjson.Result) string {
	if v.Type == gjson.Number {
		return v.Raw
	}
	return v.Str
}

// fraction returns a JSON number from 0 to 1. It returns nil for any other value.
func fraction(v gjson.Result) *float64 {
	if v.Type == gjson.Number && v.Num >= 0 && v.Num <= 1 {
		return &v.Num
	}
	return nil
}

// withContext returns a reader that reads from r, and fails after ctx is done.
func withContext(ctx context.Context, r io.Reader) io.Reader { return &contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context //nolint:containedctx // io.Reader has no parameter for it
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
