// Command statsprobe computes the statistics of package stats for tables on
// standard input, so that stats_check.py can hold them against others.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/trajectory-arena/arena/internal/stats"
)

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
	// Clustered is the clustered Wilson interval of Means.
	Clustered [2]float64 `json:"clustered"`
}

func main() {
	if err := probe(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1) //nolint:forbidigo // a program of its own
	}
}

func probe(r io.Reader, w io.Writer) error {
	in, out := json.NewDecoder(r), json.NewEncoder(w)
	for {
		var t table
		if err := in.Decode(&t); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read table: %w", err)
		}
		n, err := compute(t)
		if err != nil {
			return err
		}
		if err := out.Encode(n); err != nil {
			return fmt.Errorf("write numbers: %w", err)
		}
	}
}

// samplesOfMeans is how many samples stats_check.py makes a mean of.
const samplesOfMeans = 8

func compute(t table) (numbers, error) {
	wilson := stats.Wilson(t.C, t.N)
	n := numbers{
		Wilson: [2]float64{wilson.Low, wilson.High}, McNemar: stats.McNemar(t.OnlyA, t.OnlyB),
		Holm: stats.Holm(t.P), SE: stats.ClusteredSE(t.Means),
	}
	mean, problems := stats.Mean(t.Means), len(t.Means)
	interval := stats.T95(mean, n.SE, problems)
	n.Paired = stats.NewPaired(make([]float64, problems), t.Means, samplesOfMeans, samplesOfMeans).P()
	n.T95 = [2]float64{interval.Low, interval.High}
	interval = stats.ClusteredWilson(mean, n.SE, problems, samplesOfMeans*problems)
	n.Clustered = [2]float64{interval.Low, interval.High}
	var err, err2 error
	n.PassAt, err = stats.PassAtK(t.Samples, t.Wins, t.K)
	n.PassHat, err2 = stats.PassHatK(t.Samples, t.Wins, t.K)
	return n, errors.Join(err, err2)
}
