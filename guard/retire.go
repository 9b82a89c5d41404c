package guard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/trajectory-arena/arena/guard/rows"
)

// Retirement is a protected problem that a corpus has in train, and how that
// shows. Such a corpus may no longer be trained on.
type Retirement struct {
	Rotated
	Evidence string
}

// Retires holds the corpus folder's bank.json and every row of its train split
// against the protected problems: by specification and gold product, by the
// request in any words, by what the model wrote, and by cluster, whose other
// members are the same problem in other clothes. Problems are in the order of
// the rotation.
func (r *Rotation) Retires(corpus string) ([]Retirement, error) {
	found := map[int]string{}
	if err := errors.Join(r.trainedByState(corpus, found), r.trainedByRows(corpus, found)); err != nil {
		return nil, fmt.Errorf("hold corpus against the bank: %w", err)
	}
	r.trainedByCluster(found)
	var out []Retirement
	for i, p := range r.Problems {
		if evidence, is := found[i]; is {
			out = append(out, Retirement{p, evidence})
		}
	}
	return out, nil
}

func (p *Rotated) protected() bool { return p.Stage != StageOpen }

// trainedByState looks in bank.json, where the corpus has one.
func (r *Rotation) trainedByState(corpus string, found map[int]string) error {
	file, err := os.Open(filepath.Join(corpus, stateName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	state, err := ReadState(file)
	if err != nil {
		return err
	}
	for i, p := range r.Problems {
		product := slices.IndexFunc(p.ProductIDs, func(id string) bool { return state.ProductPool(id) == PoolTrain })
		switch {
		case !p.protected():
		case p.Spec != "" && state.Pool(p.Spec) == PoolTrain:
			found[i] = "its specification is in train"
		case product >= 0:
			found[i] = "product " + p.ProductIDs[product] + " is rewarded in train"
		}
	}
	return nil
}

// ErrNoRows says that a folder holds nothing that could be trained on.
var ErrNoRows = errors.New("no row of a train split")

// trainedByRows searches the rows that are trained on, as any corpus's are
// searched for leaks.
func (r *Rotation) trainedByRows(corpus string, found map[int]string) error {
	g, err := New(r.positions(), Config{})
	if errors.Is(err, ErrEmptyBank) {
		return nil // nothing is protected
	}
	if err != nil {
		return err
	}
	files, err := rows.Files(corpus)
	if err != nil {
		return err
	}
	read := 0
	for _, file := range slices.DeleteFunc(files, isEvalSplit) {
		err := rows.Each(file, func(row rows.Row) error {
			read++
			c, err := ReadCandidate(row)
			if err != nil {
				return nil //nolint:nilerr // a row without text leaks nothing
			}
			f := g.Check(c)
			i, err := strconv.Atoi(f.Match)
			if _, known := found[i]; f.Drop && err == nil && !known {
				found[i] = fmt.Sprintf("row %s of %s: %s", c.ID, filepath.Base(file), f.Evidence)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if read == 0 {
		return fmt.Errorf("%s: %w", corpus, ErrNoRows)
	}
	return nil
}

// positions are the protected entries, named by their place in the rotation.
func (r *Rotation) positions() []Entry {
	var out []Entry
	for i, p := range r.Problems {
		if p.protected() {
			e := p.entry()
			e.ID = strconv.Itoa(i)
			out = append(out, e)
		}
	}
	return out
}

func (r *Rotation) trainedByCluster(found map[int]string) {
	trained := map[string]string{}
	for i, p := range r.Problems {
		if _, is := found[i]; is && trained[p.Cluster] == "" {
			trained[p.Cluster] = p.ID
		}
	}
	for i, p := range r.Problems {
		if _, known := found[i]; !known && p.protected() && trained[p.Cluster] != "" {
			found[i] = "problem " + trained[p.Cluster] + " of its cluster is in train"
		}
	}
}
