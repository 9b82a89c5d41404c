package shuffle_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/pipeline/shuffle"
)

// TestPartitionsHoldAllRecords checks limits at which none, some and all of the records are in the
// file.
func TestPartitionsHoldAllRecords(t *testing.T) {
	t.Parallel()
	for _, limit := range []int{1, 1000, 1 << 30} {
		path := filepath.Join(t.TempDir(), "folder", "records")
		s := shuffle.New(corpus.Disk{}, path, limit)
		var group sync.WaitGroup
		for worker := range 4 {
			group.Go(func() {
				for i := range 300 {
					key := fmt.Sprintf("key-%d", i%50)
					s.Add(3, shuffle.PartitionOf(key), func(b []byte) []byte {
						return fmt.Appendf(b, "%s:%d:%d;", key, worker, i)
					})
				}
			})
		}
		group.Wait()
		_, err := os.Stat(path)
		if isWritten := err == nil; isWritten != (limit < 1<<30) {
			t.Errorf("limit %d: %v", limit, err)
		}
		seen := map[string]bool{}
		last := map[string]int{}
		for part := range shuffle.Partitions {
			records, err := s.Records(3, part)
			if err != nil {
				t.Fatal(err)
			}
			for _, record := range strings.Split(strings.TrimSuffix(string(records), ";"), ";") {
				if record == "" {
					continue
				}
				var worker, i int
				key, value, _ := strings.Cut(record, ":")
				if _, err := fmt.Sscanf(value, "%d:%d", &worker, &i); err != nil || shuffle.PartitionOf(key) != part {
					t.Fatalf("partition %d has %q: %v", part, record, err)
				}
				order := fmt.Sprint(key, " ", worker)
				if before, ok := last[order]; ok && i <= before {
					t.Errorf("%s: %d after %d", order, i, before)
				}
				last[order] = i
				seen[record] = true
			}
		}
		if len(seen) != 1200 {
			t.Errorf("limit %d: %d records of 1200", limit, len(seen))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("limit %d: the file is left: %v", limit, err)
		}
	}
}

// TestTheSameRecordsAreTheSameFile adds the same records to two stores, which hold them in maps.
func TestTheSameRecordsAreTheSameFile(t *testing.T) {
	t.Parallel()
	var want string
	for range 8 {
		path := filepath.Join(t.TempDir(), "records")
		s := shuffle.New(corpus.Disk{}, path, 400)
		for i := range 100 {
			s.Add(i%3, i%7, func(b []byte) []byte { return fmt.Appendf(b, "record %d;", i) })
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(b)
		}
		if string(b) != want {
			t.Fatal("the file has another order")
		}
	}
}
