package pipeline_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// TestManifestRecordsInstruments checks that a manifest has the instruments next to the
// configuration, and that its hash and the state of blocks depend on each of them.
func TestManifestRecordsInstruments(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "corpus")
	r := newRun(t, sampleDay, out)
	build(t, r)
	m, err := corpus.ReadManifest(corpus.Disk{}, out)
	if err != nil {
		t.Fatal(err)
	}
	var got pipeline.Instruments
	if err := json.Unmarshal(m.Instruments, &got); err != nil || got != r.Instruments {
		t.Errorf("the manifest has the instruments %+v, %v, want %+v", got, err, r.Instruments)
	}
	for _, key := range []string{`"titles"`, `"step_judge"`, `"name"`, `"settings"`} {
		if strings.Contains(string(m.Configuration), key) {
			t.Errorf("the configuration has the key %s of an instrument", key)
		}
	}

	changes := map[string]func(*pipeline.Instruments){
		"titles.source":       func(i *pipeline.Instruments) { i.Titles.Source = "endpoint" },
		"titles.model":        func(i *pipeline.Instruments) { i.Titles.Model = "m" },
		"titles.prefix":       func(i *pipeline.Instruments) { i.Titles.Prefix = "p" },
		"judge.name":          func(i *pipeline.Instruments) { i.Judge.Name = "n" },
		"judge.settings":      func(i *pipeline.Instruments) { i.Judge.Settings = "s" },
		"step_judge.name":     func(i *pipeline.Instruments) { i.StepJudge.Name = "n" },
		"step_judge.settings": func(i *pipeline.Instruments) { i.StepJudge.Settings = "s" },
	}
	for name, change := range changes {
		changed := newRun(t, sampleDay, out)
		change(&changed.Instruments)
		f, err := changed.Forecast(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n := f.Blocks[block.ConfigMismatch]; n != f.Inputs {
			t.Errorf("%s: %d of %d blocks are made again", name, n, f.Inputs)
		}
	}
}
