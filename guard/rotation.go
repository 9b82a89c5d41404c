package guard

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// RotationSchema is the version of the rotation file.
const RotationSchema = rotationFamily + "v1"

const rotationFamily = "arena.rotation."

// Stage is the use of a problem that may change over time. A problem only moves to later stages.
type Stage string

// The stages: open problems may be trained on, students are evaluated on held-out
// ones, never-touch ones are in reserve or retired.
const (
	StageOpen       Stage = "open"
	StageHeldOut    Stage = "held-out"
	StageNeverTouch Stage = "never-touch"
)

// Stages returns the stages in their order.
func Stages() []Stage { return []Stage{StageOpen, StageHeldOut, StageNeverTouch} }

// Rotation is the state of a protected bank over time: every problem with its cluster, its stage,
// and the day and author of its last change of stage.
type Rotation struct {
	Schema   string    `json:"schema"`
	Problems []Rotated `json:"problems"`
}

// Rotated is one problem of the rotation.
type Rotated struct {
	Entry
	Cluster string `json:"cluster"`
	Stage   Stage  `json:"pool"`
	// Since is the day of the last change of stage (YYYY-MM-DD), By its author.
	Since string `json:"since"`
	By    string `json:"by"`
}

// Move describes a change of stage: the new stage, the day and the author.
type Move struct {
	To   Stage
	Date string
	By   string
	// Release holds the ids of held-out problems that may be opened again.
	Release []string
}

var isoDay = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`)

// Validate returns an error that lists every invalid field.
func (m Move) Validate() error {
	var bad wrong.List
	bad.Unless(slices.Contains(Stages(), m.To), "pool %q is unknown: it must be open, held-out or never-touch", m.To)
	bad.Unless(isoDay.MatchString(m.Date), "date %q is no day: write it as 2006-01-31", m.Date)
	bad.Unless(strings.TrimSpace(m.By) != "", "nobody is named as the mover")
	return bad.Err()
}

// Add adds problems to the rotation and clusters all problems again. A problem that is already in
// the rotation changes its stage instead.
func (r *Rotation) Add(
	ctx context.Context,
	bank []Entry,
	m Move,
) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("add to bank: %w", err)
	}
	positions := map[string]int{}
	for i, p := range r.Problems {
		positions[p.key()] = i
	}
	for _, e := range bank {
		p := Rotated{
			Entry: e,
			Stage: m.To,
			Since: m.Date,
			By:    m.By,
		}
		if i, ok := positions[p.key()]; ok {
			if err := r.Problems[i].move(m); err != nil {
				return fmt.Errorf("add to bank: %w", err)
			}
			continue
		}
		positions[p.key()] = len(r.Problems)
		r.Problems = append(r.Problems, p)
	}
	return wrong.Wrap("add to bank", r.cluster(ctx))
}

// Rotate moves the problems with these ids to another stage, and with them all others of their
// clusters, since a cluster must not be split over two stages. If problems of two banks have the
// same id, both move. It returns the problems that changed their stage.
func (r *Rotation) Rotate(ids []string, m Move) ([]Rotated, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("rotate bank: %w", err)
	}
	clusters, err := r.clusterSet(ids)
	if err != nil {
		return nil, fmt.Errorf("rotate bank: %w", err)
	}
	next := slices.Clone(r.Problems)
	var moved []Rotated
	for i := range next {
		if !clusters[next[i].Cluster] || next[i].Stage == m.To {
			continue
		}
		if err := next[i].move(m); err != nil {
			return nil, fmt.Errorf("rotate bank: %w", err)
		}
		moved = append(moved, next[i])
	}
	r.Problems = next
	return moved, nil
}

// clusterSet returns the names of the clusters (groups of related problems, which are moved
// together) that contain the problems with these ids. An id that no problem has is an error.
func (r *Rotation) clusterSet(ids []string) (map[string]bool, error) {
	clusters := map[string]bool{}
	for _, id := range ids {
		exists := false
		for _, p := range r.Problems {
			if p.ID == id {
				exists = true
				clusters[p.Cluster] = true
			}
		}
		if !exists {
			return nil, fmt.Errorf("problem %q is not in the bank", id)
		}
	}
	return clusters, nil
}

// ErrBackwards is returned for a move to an earlier stage. It is not allowed,
// since a model may have been trained on the problem, or been evaluated on it, in
// the meantime.
var ErrBackwards = errors.New("a problem only moves from open to held-out to never-touch")

func (p *Rotated) move(m Move) error {
	current := slices.Index(Stages(), p.Stage)
	next := slices.Index(Stages(), m.To)
	if next == current {
		return nil
	}
	mayReturn := p.Stage != StageNeverTouch && slices.Contains(m.Release, p.ID)
	if next < current && !mayReturn {
		return fmt.Errorf("problem %q: %w", p.ID, ErrBackwards)
	}
	p.Stage = m.To
	p.Since = m.Date
	p.By = m.By
	return nil
}

// key returns a hash of the normalised request and the item ids of a problem. Two entries with
// the same hash are one problem.
func (p *Rotated) key() string {
	items := sortUnique(slices.Clone(p.ItemIDs))
	return hashStrings(append([]string{normalised(p.Text)}, items...))
}

// cluster groups related problems into clusters and sets the name of each problem's cluster. All
// problems of a cluster get one stage (open, held-out or never-touch): that of its most protected
// problem, with the day and the author of that problem's last change.
func (r *Rotation) cluster(ctx context.Context) error {
	slicesx.SortByKey(r.Problems, func(p Rotated) string {
		return p.key()
	})
	groups, err := groupEntries(ctx, r.entries(Stages()...))
	if err != nil {
		return err
	}
	names := map[int]string{}
	mostProtected := map[int]Rotated{}
	for i, p := range r.Problems {
		root := groups.find(i)
		if _, ok := names[root]; !ok {
			names[root] = p.key()[:16]
			mostProtected[root] = p
		}
		if slices.Index(Stages(), p.Stage) > slices.Index(Stages(), mostProtected[root].Stage) {
			mostProtected[root] = p
		}
	}
	for i := range r.Problems {
		p := &r.Problems[i]
		root := groups.find(i)
		p.Cluster = names[root]
		if leader := mostProtected[root]; leader.Stage != p.Stage {
			p.Stage = leader.Stage
			p.Since = leader.Since
			p.By = leader.By
		}
	}
	return nil
}

// Entries returns the protected problems: those held out or never-touch.
func (r *Rotation) Entries() []Entry { return r.entries(StageHeldOut, StageNeverTouch) }

func (r *Rotation) entries(stages ...Stage) []Entry {
	var out []Entry
	for i := range r.Problems {
		if slices.Contains(stages, r.Problems[i].Stage) {
			out = append(out, r.Problems[i].Entry)
		}
	}
	return out
}

// Encode returns the content of the rotation file.
func (r *Rotation) Encode() []byte {
	r.Schema = RotationSchema
	return encodeIndented(r)
}

// ReadRotation reads a rotation file. An unknown key, another version or an
// invalid problem is an error.
func ReadRotation(path string) (*Rotation, error) {
	content, schema, err := readSchema(path)
	if err == nil && !strings.HasPrefix(schema, rotationFamily) {
		err = errors.New("file is no bank rotation")
	}
	var r *Rotation
	if err == nil {
		r, err = decodeRotation(content)
	}
	return r, wrong.Wrap("read bank rotation", err)
}

func decodeRotation(b []byte) (*Rotation, error) {
	r := &Rotation{}
	if err := decodeStrict(b, r); err != nil {
		return nil, err
	}
	if r.Schema != RotationSchema {
		return nil, fmt.Errorf("schema is %q: this version reads %q", r.Schema, RotationSchema)
	}
	for _, p := range r.Problems {
		valid := Move{To: p.Stage, Date: p.Since, By: p.By}.Validate()
		if err := errors.Join(valid, checkWords(p.Identity, p.Lexicon)); err != nil {
			return nil, fmt.Errorf("problem %q: %w", p.ID, err)
		}
	}
	return r, nil
}
