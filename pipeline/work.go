package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// What a run keeps in its work folder, beside names, the plan and locks.
const (
	blocksFolder = "blocks"
	partsFolder  = "parts"
)

// Forget removes finished work, so that the next run does everything again. A
// work folder that somebody named may hold more than ours: that stays.
func (r *Run) Forget() error {
	release, err := r.lock()
	if err != nil {
		return err
	}
	defer release()
	for _, name := range []string{blocksFolder, partsFolder} {
		if err := r.FS.RemoveAll(filepath.Join(r.Work, name)); err != nil {
			return fmt.Errorf("forget finished work: %w", err)
		}
	}
	return nil
}

// forgetParts removes the parts of earlier plans, which no run would read: each
// set is as large as a corpus.
func (s *session) forgetParts(but *plan) error {
	all := filepath.Join(s.Work, partsFolder)
	entries, err := s.FS.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read folder of parts: %w", err)
	}
	for _, e := range entries {
		if e.Name() == but.folder() {
			continue
		}
		if err := s.FS.RemoveAll(filepath.Join(all, e.Name())); err != nil {
			return fmt.Errorf("remove parts of an earlier plan: %w", err)
		}
	}
	return nil
}
