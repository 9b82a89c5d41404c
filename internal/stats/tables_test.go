package stats

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"testing"
)

var tables = flag.String("tables", "", "file of tables, a JSON object a line, whose numbers are written to FILE.numbers")

type table struct {
	N       int       `json:"n"`
	C       int       `json:"c"`
	Samples int       `json:"samples"`
	Wins    int       `json:"wins"`
	K       int       `json:"k"`
	OnlyA   int       `json:"only_a"`
	OnlyB   int       `json:"only_b"`
	P       []float64 `json:"p"`
	Means   []float64 `json:"means"`
}

type numbers struct {
	Wilson  [2]float64 `json:"wilson"`
	McNemar float64    `json:"mcnemar"`
	Holm    []float64  `json:"holm"`
	PassAt  float64    `json:"pass_at"`
	PassHat float64    `json:"pass_hat"`
	SE      float64    `json:"se"`
	// T95 and Paired are of Means as differences: interval and p-value.
	T95    [2]float64 `json:"t95"`
	Paired float64    `json:"paired"`
	// GroupedSE is the standard error of Means as differences, of which every two are a group; 0 for
	// one group.
	GroupedSE float64 `json:"grouped_se"`
	// Clustered is the clustered Wilson interval of Means.
	Clustered [2]float64 `json:"clustered"`
}

// TestTables computes the tables of bench/stats_check.py, which compares the numbers with those of
// other libraries.
func TestTables(t *testing.T) {
	t.Parallel()
	if *tables == "" {
		t.Skip("bench/stats_check.py runs it")
	}
	src, err := os.Open(*tables)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := os.Create(*tables + ".numbers")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(src)
	out := json.NewEncoder(dst)
	for err == nil {
		var request table
		if err = decoder.Decode(&request); err == nil {
			err = out.Encode(compute(request))
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if err := dst.Close(); err != nil {
		t.Fatal(err)
	}
	if err := src.Close(); err != nil {
		t.Fatal(err)
	}
}

// samplesOfMeans is how many samples stats_check.py makes a mean of.
const samplesOfMeans = 8

func compute(t table) numbers {
	wilson := Wilson(t.C, t.N)
	n := numbers{
		Wilson: [2]float64{wilson.Low, wilson.High}, McNemar: McNemar(t.OnlyA, t.OnlyB),
		Holm: Holm(t.P), SE: ClusteredSE(t.Means),
	}
	mean := Mean(t.Means)
	problems := len(t.Means)
	interval := T95(mean, n.SE, problems)
	groups := make([]int, problems)
	for i := range groups {
		groups[i] = i / 2
	}
	n.Paired = NewPaired(make([]float64, problems), t.Means, samplesOfMeans, samplesOfMeans, nil).P()
	if p := NewPaired(make([]float64, problems), t.Means, samplesOfMeans, samplesOfMeans, groups); p.SE > 0 {
		n.GroupedSE = p.SE
	}
	n.T95 = [2]float64{interval.Low, interval.High}
	interval = ClusteredWilson(mean, n.SE, problems, samplesOfMeans*problems)
	n.Clustered = [2]float64{interval.Low, interval.High}
	n.PassAt = PassAtK(t.Samples, t.Wins, t.K)
	n.PassHat = PassHatK(t.Samples, t.Wins, t.K)
	return n
}
