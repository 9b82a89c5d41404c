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

// Stage is how far a problem has come on its one-way road.
type Stage string

// The stages: open problems may be trained on, held-out ones are evaluated on,
// never-touch ones wait unseen or are retired for good.
const (
	StageOpen       Stage = "open"
	StageHeldOut    Stage = "held-out"
	StageNeverTouch Stage = "never-touch"
)

// Stages lists the stages in the order of the road.
func Stages() []Stage { return []Stage{StageOpen, StageHeldOut, StageNeverTouch} }

// Rotation is the protected bank's state: every problem with its cluster, its
// stage, since when and by whom.
type Rotation struct {
	Schema   string    `json:"schema"`
	Problems []Rotated `json:"problems"`
}

// Rotated is one problem of the rotation.
type Rotated struct {
	Entry
	Cluster string `json:"cluster"`
	Stage   Stage  `json:"pool"`
	// Since is the day of the last move (YYYY-MM-DD), By who moved it.
	Since string `json:"since"`
	By    string `json:"by"`
}

// Move says on which day and by whom problems are added or rotated.
type Move struct {
	To   Stage
	Date string
	By   string
	// Release names the held-out problems that may be opened again.
	Release []string
}

var isoDay = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$`)

// Validate returns everything that is wrong with m.
func (m Move) Validate() error {
	var bad wrong.List
	bad.Unless(slices.Contains(Stages(), m.To), "pool %q is unknown: it must be open, held-out or never-touch", m.To)
	bad.Unless(isoDay.MatchString(m.Date), "date %q is no day: write it as 2006-01-31", m.Date)
	bad.Unless(strings.TrimSpace(m.By) != "", "nobody is named as the mover")
	return bad.Err()
}

// Add takes problems into the rotation. A problem that is known already may
// only move on; clusters are drawn again over all problems.
func (r *Rotation) Add(ctx context.Context, bank []Entry, m Move) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("add to bank: %w", err)
	}
	known := map[string]int{}
	for i, p := range r.Problems {
		known[p.key()] = i
	}
	for _, e := range bank {
		p := Rotated{Entry: e, Stage: m.To, Since: m.Date, By: m.By}
		if i, seen := known[p.key()]; seen {
			if err := r.Problems[i].move(m); err != nil {
				return fmt.Errorf("add to bank: %w", err)
			}
			continue
		}
		known[p.key()] = len(r.Problems)
		r.Problems = append(r.Problems, p)
	}
	return wrong.In("add to bank", r.cluster(ctx))
}

// Rotate moves the named problems and all others of their clusters: a cluster
// is never on two sides. Problems of two banks may share a name; each that bears
// it moves. It returns the problems that moved.
func (r *Rotation) Rotate(ids []string, m Move) ([]Rotated, error) {
	if err := m.Validate(); err != nil {
		return nil, fmt.Errorf("rotate bank: %w", err)
	}
	clusters, err := r.clustersOf(ids)
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

func (r *Rotation) clustersOf(ids []string) (map[string]bool, error) {
	clusters := map[string]bool{}
	for _, id := range ids {
		known := false
		for _, p := range r.Problems {
			if p.ID == id {
				known, clusters[p.Cluster] = true, true
			}
		}
		if !known {
			return nil, fmt.Errorf("problem %q is not in the bank", id)
		}
	}
	return clusters, nil
}

// ErrBackwards says that a problem may not return to an earlier stage: whoever
// has been told to train on it, or not to, was told for good.
var ErrBackwards = errors.New("a problem only moves from open to held-out to never-touch")

func (p *Rotated) move(m Move) error {
	from, to := slices.Index(Stages(), p.Stage), slices.Index(Stages(), m.To)
	switch {
	case to == from:
		return nil
	case to < from && (p.Stage == StageNeverTouch || !slices.Contains(m.Release, p.ID)):
		return fmt.Errorf("problem %q: %w", p.ID, ErrBackwards)
	}
	p.Stage, p.Since, p.By = m.To, m.Date, m.By
	return nil
}

func (p *Rotated) key() string {
	return hashStrings(append([]string{normalised(p.Text)}, sortedOnce(slices.Clone(p.ProductIDs))...))
}

// cluster draws the clusters again and lets the most protected stage of each
// win.
func (r *Rotation) cluster(ctx context.Context) error {
	slices.SortStableFunc(r.Problems, func(a, b Rotated) int { return strings.Compare(a.key(), b.key()) })
	joined, err := joinEntries(ctx, r.entries(Stages()...))
	if err != nil {
		return err
	}
	name, stage := map[int]string{}, map[int]Rotated{}
	for i, p := range r.Problems {
		root := joined.find(i)
		if _, known := name[root]; !known {
			name[root], stage[root] = p.key()[:16], p
		}
		if slices.Index(Stages(), p.Stage) > slices.Index(Stages(), stage[root].Stage) {
			stage[root] = p
		}
	}
	for i := range r.Problems {
		root := joined.find(i)
		p := &r.Problems[i]
		p.Cluster = name[root]
		if lead := stage[root]; lead.Stage != p.Stage {
			p.Stage, p.Since, p.By = lead.Stage, lead.Since, lead.By
		}
	}
	return nil
}

// Entries returns the problems that are protected: held-out and never-touch.
func (r *Rotation) Entries() []Entry { return r.entries(StageHeldOut, StageNeverTouch) }

func (r *Rotation) entries(in ...Stage) []Entry {
	return slicesx.FilterMap(r.Problems, func(p Rotated) (Entry, bool) { return p.Entry, slices.Contains(in, p.Stage) })
}

// Encode returns the rotation as its file holds it.
func (r *Rotation) Encode() []byte {
	r.Schema = RotationSchema
	return encoded(r)
}

// ReadRotation reads a rotation file strictly.
func ReadRotation(path string) (*Rotation, error) {
	b, schema, err := schemaOf(path)
	if err == nil && !strings.HasPrefix(schema, rotationFamily) {
		err = errors.New("file is no bank rotation")
	}
	var r *Rotation
	if err == nil {
		r, err = decodeRotation(b)
	}
	return r, wrong.In("read bank rotation", err)
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
		if err := (Move{To: p.Stage, Date: p.Since, By: p.By}).Validate(); err != nil {
			return nil, fmt.Errorf("problem %q: %w", p.ID, err)
		}
	}
	return r, nil
}
