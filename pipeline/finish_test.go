package pipeline_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/pipeline/finish"
)

func entry(id, request string) guard.Entry {
	return guard.Entry{ID: id, Bank: id, Text: request}
}

func TestEachSplitIsKeptFromWhatItMayNotHold(t *testing.T) {
	t.Parallel()
	const outside, never, eval = "a red mug for my sister under 20 pesos", "wireless earphones with a case below 900 pesos", "blue running shoes of size 42 from one shop"
	p, err := finish.NewProtection(finish.ProtectedEntries{
		HeldOut: []guard.Entry{entry("outside", outside)}, NeverTouch: []guard.Entry{entry("never", never)}, Eval: []guard.Entry{entry("eval", eval)},
	}, guard.Config{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		split, text string
		drop        bool
	}{
		{corpus.SplitTrain, outside, true}, {corpus.SplitTrain, never, true}, {corpus.SplitTrain, eval, true},
		{corpus.SplitEval, outside, true}, {corpus.SplitEval, never, true}, {corpus.SplitEval, eval, false},
		{corpus.SplitTrain, "a bag of cat food", false},
	} {
		if got := p.Check(tt.split, guard.Candidate{Text: tt.text}); got.Drop != tt.drop {
			t.Errorf("%s in %s: dropped %v", tt.text, tt.split, got.Drop)
		}
	}
	if p.Guard("") != nil {
		t.Error("what is in no split is guarded")
	}
}

func TestNothingToProtectIsNoProtection(t *testing.T) {
	t.Parallel()
	if _, err := finish.NewProtection(finish.ProtectedEntries{}, guard.Config{}, 1); !errors.Is(err, guard.ErrEmptyBank) {
		t.Errorf("an empty bank: %v", err)
	}
	if _, _, err := finish.ReadHeldOut([]string{filepath.Join(t.TempDir(), "none.jsonl")}); err == nil {
		t.Error("a missing held-out file was read")
	}
}

// TestHeldOutFilesAreAskedFor holds that a source without a bank of this version needs the held-out
// files that its manifest names, since it does not contain their texts.
func TestHeldOutFilesAreAskedFor(t *testing.T) {
	t.Parallel()
	s := finish.Source{Manifest: &corpus.Manifest{Inputs: []corpus.Input{{Kind: "traces", SHA256: "a"}, {Kind: "held_out", SHA256: "b"}, {Kind: "held_out"}}}}
	if _, err := s.ProtectedBank([]string{"c", "b"}); err != nil {
		t.Error(err)
	}
	if _, err := s.ProtectedBank([]string{"a"}); !errors.Is(err, finish.ErrNotProtected) {
		t.Errorf("a file that is missing: %v", err)
	}
}

func TestPartsGoWithOrWithoutACorpus(t *testing.T) {
	t.Parallel()
	target := finish.Target{FS: corpus.Disk{}, Out: filepath.Join(t.TempDir(), "out"), Version: "test"}
	failed := errors.New("failed")
	work := ""
	err := target.WriteInParts(func(dir string) error {
		work = dir
		if _, err := target.NewPart(dir); err != nil {
			t.Fatal(err)
		}
		return failed
	})
	if !errors.Is(err, failed) {
		t.Errorf("the error is %v", err)
	}
	if leftovers, err := filepath.Glob(work); err != nil || len(leftovers) > 0 {
		t.Errorf("left %v, %v", leftovers, err)
	}
}

func TestSourceIsKnownByItsManifest(t *testing.T) {
	t.Parallel()
	target := finish.Target{FS: corpus.Disk{}, Out: filepath.Join(t.TempDir(), "out"), Version: "test", License: "cc0-1.0"}
	err := target.WriteInParts(func(work string) error {
		part, err := target.NewPart(work)
		if err != nil {
			return err
		}
		l := finish.NewLedger(part)
		if err = l.Add(&rows.Attempt{TraceID: "r/p", Fate: rows.FateDropped}, nil, nil, nil); err != nil {
			return err
		}
		if err = finish.FirstError(l.Close, part.Close); err != nil {
			return err
		}
		return target.Assemble(t.Context(), &finish.Content{Assembly: corpus.Assembly{Parts: []string{work}, Manifest: corpus.Manifest{Configuration: []byte("{}")}, Card: corpus.Card{Title: "Nothing", License: "other"}}})
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := finish.Open(target.FS, target.Out)
	if err != nil {
		t.Fatal(err)
	}
	if bank, none := s.Bank(); bank != nil || none != nil {
		t.Errorf("its bank is %v, %v", bank, none)
	}
	n := 0
	err = finish.Table(s, finish.TableAttempts, func(a *rows.Attempt) error {
		n++
		return nil
	})
	if err != nil || n != 1 || s.HasTable(finish.TableVerdicts) {
		t.Errorf("%d rows, %v", n, err)
	}
	if input := s.Input("corpus"); input.SHA256 == "" || input.SHA256 != s.SHA256 || input.Bytes != s.Bytes {
		t.Errorf("named as %+v", input)
	}
	if _, named, err := corpus.SourceSection(target.FS, target.Out); err != nil || named != "cc0-1.0" {
		t.Errorf("the card names %q, %v", named, err)
	}
}
