package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/trajectory-arena/arena/traces"
)

func smallFiles(n int) []traces.Input {
	out := make([]traces.Input, n)
	for i := range out {
		sum := sha256.Sum256(fmt.Append(nil, i))
		out[i] = traces.Input{Path: fmt.Sprint(i), SHA256: hex.EncodeToString(sum[:]), Bytes: 73}
	}
	return out
}

// TestSmallFilesShareBlocks checks that small files share blocks, since a block is four files on
// disk, and that no file is lost or read twice.
func TestSmallFilesShareBlocks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ files, atMost int }{{1, 1}, {64, 64}, {65, 64}, {5_000, 64}, {100_000, 128}} {
		seen := map[string]int{}
		inputs := newInputs(smallFiles(c.files))
		for i := range inputs {
			for _, f := range inputs[i].files {
				seen[f.SHA256]++
			}
		}
		if len(inputs) > c.atMost || len(seen) != c.files {
			t.Errorf("%d files: %d blocks with %d of them, at most %d blocks", c.files, len(inputs), len(seen), c.atMost)
		}
	}
}

// TestOneFileMoreChangesOneBlock checks that a new file changes one block and that the order of the
// listed files changes none.
func TestOneFileMoreChangesOneBlock(t *testing.T) {
	t.Parallel()
	files := smallFiles(3_001)
	keys := map[string]bool{}
	for _, input := range newInputs(files[:3_000]) {
		keys[input.key.Folder()] = true
	}
	rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	changed := 0
	for _, input := range newInputs(files) {
		if !keys[input.key.Folder()] {
			changed++
		}
	}
	if changed != 1 {
		t.Errorf("%d blocks changed", changed)
	}
}

// TestLargeFilesKeepTheirBlocks checks that a large file among small ones has a block of its own.
func TestLargeFilesKeepTheirBlocks(t *testing.T) {
	t.Parallel()
	files := smallFiles(1_000)
	files[7].Bytes = smallFile
	for _, input := range newInputs(files) {
		if input.key.Input == files[7].SHA256 && len(input.files) == 1 {
			return
		}
	}
	t.Error("a large file shares a block")
}
