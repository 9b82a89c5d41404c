package finish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/chat"
	"github.com/trajectory-arena/arena/corpus/figures"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/corpus/verify"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/guard/minhash"
	text "github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/traces"
)

// ErrBroken says that a source does not keep its promises.
var ErrBroken = errors.New("a source does not verify")

const most = 256 << 20

// Source is a finished corpus that rows are taken of, known by its content.
type Source struct {
	Dir      string
	Manifest *corpus.Manifest
	// SHA256 is that of its manifest, Bytes the manifest's size.
	SHA256 string
	Bytes  int64
	fs     corpus.FS
}

// Open reads the manifest of the corpus in dir.
func Open(fsys corpus.FS, dir string) (*Source, error) {
	m, err := corpus.ReadManifest(fsys, dir)
	if err != nil {
		return nil, err
	}
	size, sum, err := corpus.Hash(fsys, filepath.Join(dir, corpus.ManifestName))
	return &Source{Dir: dir, Manifest: m, SHA256: sum, Bytes: size, fs: fsys}, err
}

// Verify refuses a source that breaks a promise.
func (s *Source) Verify(ctx context.Context) error {
	found, err := verify.Corpus(ctx, s.fs, s.Dir)
	found = slices.DeleteFunc(found, func(f verify.Finding) bool { return f.Withheld })
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("read %s: %w: %s", s.Dir, ErrBroken, found[0])
	}
	return err
}

// Bank is the split that the source pins; nil where it pins none.
func (s *Source) Bank() (*guard.State, error) {
	if !s.Has(corpus.BankName) {
		return nil, nil
	}
	b, err := corpus.ReadFile(s.fs, s.Path(corpus.BankName), most)
	if err != nil {
		return nil, err
	}
	bank, err := guard.ReadState(bytes.NewReader(b))
	if err != nil {
		err = fmt.Errorf("read bank of %s: %w", s.Dir, err)
	}
	return bank, err
}

// Input names the source in the manifest of what is made of it.
func (s *Source) Input(kind string) corpus.Input {
	return corpus.Input{Kind: kind, SHA256: s.SHA256, Bytes: s.Bytes, Records: int64(len(s.Manifest.Files))}
}

// Has reports whether the manifest names a file.
func (s *Source) Has(path string) bool {
	return slices.ContainsFunc(s.Manifest.Files, func(f corpus.FileEntry) bool { return f.Path == path })
}

// HasTable reports whether the source has a table of the ledger.
func (s *Source) HasTable(name string) bool { return s.Has(tablePath(name)) }

func tablePath(name string) string { return "tables/" + name + ".parquet" }

// Path is where a file of the source lies.
func (s *Source) Path(rel string) string { return filepath.Join(s.Dir, filepath.FromSlash(rel)) }

// Files are the shards of a profile in a split. Turns cut out of the
// rows of another config are left out.
func (s *Source) Files(profile, split string) []string {
	out := slicesx.FilterMap(s.Manifest.Files, func(f corpus.FileEntry) (string, bool) {
		return f.Path, f.Profile == profile && f.Split == split && !corpus.Derived(f.Config)
	})
	slices.Sort(out)
	return out
}

// Rows reads the rows of a profile in a split, in order.
func Rows[T any](s *Source, profile, split string, visit func(*T) error) error {
	for _, path := range s.Files(profile, split) {
		if err := corpus.Rows(s.fs, s.Path(path), visit); err != nil {
			return err
		}
	}
	return nil
}

// Table reads the rows of a table of the ledger; none where it is not there.
func Table[T any](s *Source, name string, visit func(*T) error) error {
	if !s.HasTable(name) {
		return nil
	}
	return corpus.Rows(s.fs, s.Path(tablePath(name)), visit)
}

// Around opens the corpora that inputs are files of: what these keep out of
// training stays out of what is made of their rows.
func Around(fsys corpus.FS, inputs []traces.Input) ([]*Source, error) {
	var out []*Source
	seen := map[string]bool{}
	for i := range inputs { // by position: the rest of an input may still be hashed
		name := inputs[i].Path
		if name == traces.Stdin {
			continue
		}
		path, err := filepath.Abs(name)
		if err != nil {
			return nil, fmt.Errorf("find the corpus around %s: %w", name, err)
		}
		for dir := filepath.Dir(path); !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			is, err := corpus.IsCorpus(fsys, dir)
			if err == nil && is {
				var s *Source
				s, err = Open(fsys, dir)
				out = append(out, s)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// Seen is what is looked at in a row that a corpus holds, whatever its profile.
type Seen struct {
	*rows.Origin
	// Candidate is all that stands in the row and that a model is trained on or
	// shown, as guard.ReadCandidate takes it from a row in any trainer's format. Its
	// ID tells rows of one corpus apart.
	Candidate guard.Candidate
	// Key is the same for copies of a row.
	Key string
	// Sessions are the attempts that it was made of; none for a problem.
	Sessions []string
	// Score orders rows with one request, higher is better.
	Score   float64
	Figures figures.Row
}

// Completion is the signature of all that the model wrote, for comparing attempts.
func (s *Seen) Completion() *minhash.Packed {
	signature := minhash.Sign(strings.Join(s.Candidate.Answers, " "))
	return new(signature.Pack())
}

// Look looks at a row, a pointer to a row type.
func Look(row any) (s Seen, err error) {
	switch r := row.(type) {
	case *rows.SFT:
		s = Seen{Origin: &r.Origin, Sessions: []string{r.SessionID}, Score: r.Reward}
		ms, unread := chat.Decode(r.Messages)
		s.Candidate, err = CandidateOf(r, ms, ToolTexts(r.Tools)), unread
	case *rows.RL:
		s = Seen{Origin: &r.Origin}
		s.Candidate = guard.NewCandidate(r.ProblemID, rows.Request(r.Prompt), rows.TextTurns(r.Prompt), r.GoldProducts()...)
		s.Candidate.Metadata = []string{text.Leaves(gjson.Parse(r.Tools))}
		s.Key = s.Candidate.Text + "\n" + r.RewardModel.Truth
	case *rows.Pref:
		s = Seen{Origin: &r.Origin, Sessions: []string{r.ChosenSession, r.RejectedSession}, Score: r.Margin}
		s.Candidate = guard.NewCandidate(strings.Join(s.Sessions, " "), rows.Request(r.Prompt), rows.TextTurns(r.Prompt, r.Chosen, r.Rejected))
	case *rows.KTO:
		s = Seen{Origin: &r.Origin, Sessions: []string{r.SessionID}, Score: r.Score}
		s.Candidate = guard.NewCandidate(r.SessionID, rows.Request(r.Prompt), rows.TextTurns(r.Prompt, r.Completion))
	case *rows.Steps:
		s = Seen{Origin: &r.Origin, Sessions: []string{r.SessionID}}
		s.Candidate = guard.Candidate{ID: r.SessionID, Context: []string{r.Prompt}, Answers: r.Completions}
	default:
		return s, fmt.Errorf("look at a row of type %T: no profile has it", row)
	}
	if len(s.Sessions) > 0 {
		s.Key = strings.Join(s.Sessions, "\n")
	}
	s.Figures = figures.Of(row)
	return s, err
}

// CandidateOf is the candidate of an attempt with these messages, whose tools say what
// ToolTexts gives.
func CandidateOf(r *rows.SFT, ms []chat.Message, tools []string) guard.Candidate {
	c := guard.NewCandidate(r.SessionID, r.Goal, rows.MessageTurns(ms))
	c.Metadata = append(slices.Clip(tools), text.Leaves(gjson.Parse(r.Metadata)))
	return c
}

// ToolTexts are the texts in definitions of tools.
func ToolTexts(tools []string) []string {
	return slicesx.Map(tools, func(tool string) string { return text.Leaves(gjson.Parse(tool)) })
}
