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

// maxBytes is the maximum size of a file in bytes: 4,096 nodes with 4,096 weights of 16 bytes
// each.
const maxBytes = 256 << 20

// Read reads the epochs of a file in order. A JSON file has one epoch, or one per line: {id,
// network, stake: [...], weights: [[[uid, weight], …] or [weight, …], …]}. A CSV or Parquet file
// has one epoch, with a row for each weight: uid, stake, target and weight. A node without
// weights has one row with an empty target.
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

// jsonEpoch is an Epoch as an object in a JSON file. Weights are the weights as validators set
// them. Counted, if present, are the weights that remain after the chain removed those for a node
// itself and outdated ones.
type jsonEpoch struct {
	ID      string            `json:"id"`
	Network json.RawMessage   `json:"network"`
	Netuid  json.RawMessage   `json:"netuid"`
	Stake   []float64         `json:"stake"`
	Weights []json.RawMessage `json:"weights"`
	Counted []json.RawMessage `json:"weights_after_self_and_outdated_removed"`
}

func readJSON(r io.Reader) ([]*Epoch, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if e, err := parse(b); err == nil {
		return []*Epoch{e}, nil
	}
	var epochs []*Epoch
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
		epochs = append(epochs, e)
	}
	if len(epochs) == 0 {
		return nil, errors.New("no epoch")
	}
	return epochs, nil
}

func parse(text []byte) (*Epoch, error) {
	var j jsonEpoch
	if err := json.Unmarshal(text, &j); err != nil {
		return nil, fmt.Errorf("read epoch: %w", err)
	}
	e := &Epoch{
		ID:      j.ID,
		Network: string(j.Network) + string(j.Netuid),
		Stake:   j.Stake,
	}
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

// parseRow parses the weights of one node, which are either pairs [[uid, weight], …] or a list
// with one weight for each node.
func parseRow(text []byte) (row []Weight, err error) {
	var dense []float64
	if json.Unmarshal(text, &dense) == nil {
		for i, w := range dense {
			row = append(row, Weight{i, w})
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

// entry is one row of a CSV or Parquet table: the weight of node UID for node Target. Target
// and Weight are nil if the node has no weights.
type entry struct {
	UID    int64    `parquet:"uid"`
	Stake  float64  `parquet:"stake"`
	Target *int64   `parquet:"target,optional"`
	Weight *float64 `parquet:"weight,optional"`
}

func readCSV(r io.Reader) ([]*Epoch, error) {
	c := csv.NewReader(r)
	header, err := c.Read()
	if err != nil || fmt.Sprint(header) != "[uid stake target weight]" {
		return nil, fmt.Errorf("the first line is %q; it names uid,stake,target,weight", header)
	}
	lines, err := c.ReadAll()
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
			return nil, fmt.Errorf("line %d: %w", i+2, err) // the header is line 1
		}
	}
	return []*Epoch{e}, e.Check()
}

func (e *entry) parse(fields []string) (err error) {
	if e.UID, err = strconv.ParseInt(fields[0], 10, 64); err != nil {
		return err
	}
	if e.Stake, err = strconv.ParseFloat(fields[1], 64); err != nil {
		return err
	}
	if fields[2] == "" {
		return nil
	}
	target, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return err
	}
	weight, err := strconv.ParseFloat(fields[3], 64)
	if err != nil {
		return err
	}
	e.Target = &target
	e.Weight = &weight
	return nil
}

func readParquet(r io.ReaderAt, size int64) ([]*Epoch, error) {
	file, err := footer.Open(r, size)
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
	rows, err := parquet.Read[entry](r, size)
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

// add adds one row of a table, a node's stake and its weight for one other node, to the epoch. It
// returns an error if a uid is out of range, or if an earlier row has another stake for the node.
func (e *Epoch) add(row *entry) error {
	if row.UID < 0 || row.UID >= MaxNodes {
		return fmt.Errorf("uid %d of at most %d nodes", row.UID, MaxNodes)
	}
	for int64(len(e.Stake)) <= row.UID {
		e.Stake = append(e.Stake, math.NaN()) // unknown so far
		e.Weights = append(e.Weights, nil)
	}
	if stake := e.Stake[row.UID]; !math.IsNaN(stake) && stake != row.Stake {
		return fmt.Errorf("node %d has stake %v and %v", row.UID, stake, row.Stake)
	}
	e.Stake[row.UID] = row.Stake
	if row.Target != nil && row.Weight != nil {
		e.Weights[row.UID] = append(e.Weights[row.UID], Weight{int(*row.Target), *row.Weight})
	}
	return nil
}
