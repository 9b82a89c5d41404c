package guard

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func move(stage Stage) Move { return Move{To: stage, Date: "2026-11-21", By: "ops"} }

func entries(ids ...string) []Entry {
	var out []Entry
	for i, id := range ids {
		out = append(out, Entry{ID: id, Bank: "suite", Text: things(30)[i+len(id)].Query, ItemIDs: []string{"9000" + id}})
	}
	return out
}

func TestRotationRejectsEarlierStage(t *testing.T) {
	t.Parallel()
	r := &Rotation{}
	bank := entries("a", "bb", "ccc")
	twin := bank[0]
	twin.ID = "twin"
	twin.Text = "the same product in other words"
	if err := r.Add(t.Context(), append(bank, twin), move(StageOpen)); err != nil {
		t.Fatal(err)
	}
	moved, err := r.Rotate([]string{"a"}, move(StageHeldOut))
	if err != nil || len(moved) != 2 {
		t.Fatalf("%d moved with their cluster: %v", len(moved), err)
	}
	if len(r.Entries()) != 2 {
		t.Errorf("%d protected, want 2", len(r.Entries()))
	}
	if _, err := r.Rotate([]string{"a"}, move(StageOpen)); !errors.Is(err, ErrBackwards) {
		t.Errorf("back to open: %v", err)
	}
	if _, err := r.Rotate([]string{"twin"}, move(StageNeverTouch)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Rotate([]string{"a"}, move(StageHeldOut)); !errors.Is(err, ErrBackwards) {
		t.Errorf("back from never-touch: %v", err)
	}
	if err := r.Add(t.Context(), bank[:1], move(StageOpen)); !errors.Is(err, ErrBackwards) {
		t.Errorf("added again as open: %v", err)
	}
	if _, err := r.Rotate([]string{"nobody"}, move(StageHeldOut)); err == nil {
		t.Error("an unknown problem moves")
	}
}

func TestRotationFileIsABank(t *testing.T) {
	t.Parallel()
	r := &Rotation{}
	if err := r.Add(t.Context(), entries("a", "bb"), move(StageHeldOut)); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(t.Context(), entries("xxxxx"), move(StageOpen)); err != nil {
		t.Fatal(err)
	}
	b := r.Encode()
	path := filepath.Join(t.TempDir(), "protected.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	bank, err := ReadBank(path)
	if err != nil || len(bank) != 2 {
		t.Fatalf("%d entries: %v", len(bank), err)
	}
	again, err := ReadRotation(path)
	if err != nil || len(again.Problems) != 3 {
		t.Fatalf("read again: %v", err)
	}
	for name, bad := range map[string]string{
		"version": `{"schema":"arena.rotation.v9","problems":[]}`,
		"pool":    `{"schema":"arena.rotation.v1","problems":[{"id":"a","pool":"shut","since":"2026-01-01","by":"x"}]}`,
		"key":     `{"schema":"arena.rotation.v1","problemz":[]}`,
	} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadRotation(path); err == nil {
			t.Errorf("%s: accepted", name)
		}
		if _, err := ReadBank(path); err == nil {
			t.Errorf("%s: protects nothing and is accepted as a bank", name)
		}
	}
	if err := (&Rotation{}).Add(t.Context(), nil, Move{To: "shut", Date: "today"}); err == nil {
		t.Error("a move without day, pool and mover is accepted")
	}
}
