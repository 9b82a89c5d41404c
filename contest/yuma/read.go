package yuma

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/contest"
	"github.com/trajectory-arena/arena/internal/footer"
)

// maxBytes bounds a file: 4,096 nodes with 4,096 weights of 16 bytes each.
const maxBytes = 256 << 20

// Read gives the epochs of a file in their order. JSON is one epoch, or a line
// each: {id, network, stake: [...], weights: [[[uid, weight], …] or [weight, …], …]}.
// CSV and Parquet are one epoch in rows of uid, stake, target and weight; a node
// without weights has one row with an empty target.
func Read(path string) ([]*Epoch, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > maxBytes {
		return nil, fmt.Errorf("%s has %d bytes; %d are read", path, info.Size(), maxBytes)
	}
	var epochs []*Epoch
	switch filepath.Ext(path) {
	case ".csv":
		epochs, err = readCSV(f)
	case ".parquet":
		epochs, err = readParquet(f, info.Size())
	default:
		epochs, err = readJSON(f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return epochs, nil
}

// epoch is an Epoch in JSON. Published files give the rows as validators set
// them and, where the chain left some out, the rows that counted.
type epoch struct {
	ID      string            `json:"id"`
	Network json.RawMessage   `json:"network"`
	Netuid  json.RawMessage   `json:"netuid"`
	Stake   []float64         `json:"stake"`
	Weights []json.RawMessage `json:"weights"`
	Counted []json.RawMessage `json:"weights_after_self_and_outdated_removed"`
}

func readJSON(in io.Reader) (all []*Epoch, err error) {
	b, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if e, err := parse(b); err == nil {
		return []*Epoch{e}, nil
	}
	var network contest.Network
	for l, err := range arena.Lines(bytes.NewReader(b), maxBytes) {
		var e *Epoch
		if err == nil {
			e, err = parse(l.Text)
		}
		if err == nil {
			err = network.Add(e.Network)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", l.Number, err)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		return nil, errors.New("no epoch")
	}
	return all, nil
}

func parse(text []byte) (*Epoch, error) {
	var j epoch
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("read epoch: %w", err)
	}
	e := &Epoch{ID: j.ID, Network: string(j.Network) + string(j.Netuid), Stake: j.Stake}
	rows := j.Weights
	if j.Counted != nil {
		rows = j.Counted
	}
	for i, text := range rows {
		row, err := parseRow(text)
		if err != nil {
			return nil, fmt.Errorf("weights of node %d: %w", i, err)
		}
		e.Weights = append(e.Weights, row)
	}
	return e, e.Check()
}

// parseRow reads [[uid, weight], …], or a weight for each node.
func parseRow(text []byte) (row []Weight, err error) {
	var dense []float64
	if json.Unmarshal(text, &dense) == nil {
		for to, w := range dense {
			row = append(row, Weight{to, w})
		}
		return row, nil
	}
	var pairs [][2]float64
	if err = json.Unmarshal(text, &pairs); err != nil {
		return nil, err
	}
	for _, p := range pairs {
		if p[0] != float64(int(p[0])) {
			return nil, fmt.Errorf("uid %v is no whole number", p[0])
		}
		row = append(row, Weight{int(p[0]), p[1]})
	}
	return row, nil
}

type entry struct {
	UID    int64    `parquet:"uid"`
	Stake  float64  `parquet:"stake"`
	Target *int64   `parquet:"target,optional"`
	Weight *float64 `parquet:"weight,optional"`
}

func readCSV(in io.Reader) ([]*Epoch, error) {
	r := csv.NewReader(in)
	head, err := r.Read()
	if err != nil || fmt.Sprint(head) != "[uid stake target weight]" {
		return nil, fmt.Errorf("the first line is %q; it names uid,stake,target,weight", head)
	}
	lines, err := r.ReadAll()
	if err != nil {
		return nil, err
	}
	e := &Epoch{}
	for i, fields := range lines {
		var row entry
		if err = row.parse(fields); err == nil {
			err = e.add(&row)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+2, err) // behind the head
		}
	}
	return []*Epoch{e}, e.Check()
}

func (e *entry) parse(fields []string) (err error) {
	var failed [4]error
	e.UID, failed[0] = strconv.ParseInt(fields[0], 10, 64)
	e.Stake, failed[1] = strconv.ParseFloat(fields[1], 64)
	if fields[2] != "" {
		e.Target, e.Weight = new(int64), new(float64)
		*e.Target, failed[2] = strconv.ParseInt(fields[2], 10, 64)
		*e.Weight, failed[3] = strconv.ParseFloat(fields[3], 64)
	}
	return errors.Join(failed[:]...)
}

func readParquet(in io.ReaderAt, size int64) ([]*Epoch, error) {
	file, err := footer.Open(in, size)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"uid", "stake", "target", "weight"} {
		if _, ok := file.Schema().Lookup(name); !ok {
			return nil, fmt.Errorf("no column %q beside uid, stake, target and weight", name)
		}
	}
	if n := file.NumRows(); n > MaxNodes*MaxNodes {
		return nil, fmt.Errorf("%d rows; %d nodes have %d weights at most", n, MaxNodes, MaxNodes*MaxNodes)
	}
	rows, err := parquet.Read[entry](in, size)
	if err != nil {
		return nil, err
	}
	e := &Epoch{}
	for i := range rows {
		if err := e.add(&rows[i]); err != nil {
			return nil, err
		}
	}
	return []*Epoch{e}, e.Check()
}

func (e *Epoch) add(row *entry) error {
	if row.UID < 0 || row.UID >= MaxNodes {
		return fmt.Errorf("uid %d of at most %d nodes", row.UID, MaxNodes)
	}
	for int64(len(e.Stake)) <= row.UID {
		e.Stake, e.Weights = append(e.Stake, math.NaN()), append(e.Weights, nil)
	}
	if before := e.Stake[row.UID]; !math.IsNaN(before) && before != row.Stake {
		return fmt.Errorf("node %d has stake %v and %v", row.UID, before, row.Stake)
	}
	e.Stake[row.UID] = row.Stake
	if row.Target != nil && row.Weight != nil {
		e.Weights[row.UID] = append(e.Weights[row.UID], Weight{int(*row.Target), *row.Weight})
	}
	return nil
}
