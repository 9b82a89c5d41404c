package pipeline

import (
	"fmt"
	"path/filepath"
)

// What a run keeps in its work folder, beside names, the plan and a lock.
const (
	blocksFolder = "blocks"
	partsFolder  = "parts"
)

// Forget removes finished work, so that the next run does everything again. A
// work folder that somebody named may hold more than ours: that stays.
func (r *Run) Forget() error {
	for _, name := range []string{blocksFolder, partsFolder} {
		if err := r.FS.RemoveAll(filepath.Join(r.Work, name)); err != nil {
			return fmt.Errorf("forget finished work: %w", err)
		}
	}
	return nil
}
