package traces

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.jsonl"), line("s"))
	for _, name := range []string{
		"problems.jsonl", "catalog.jsonl", "labels.jsonl", "traces/run=b/x.jsonl", "traces/run=a/x.jsonl", "traces/run=a/run.json",
		"traces/run=a.b/x", "traces/README.md", "traces/.hidden",
	} {
		write(t, filepath.Join(day, name), line("a"))
	}
	link := func(dst, src string) {
		if err := os.Symlink(dst, filepath.Join(day, "traces", src)); err != nil {
			t.Fatal(err)
		}
	}
	link(filepath.Join(outside, "secret.jsonl"), "out.jsonl")
	link(outside, "outside")
	link("run=a/x.jsonl", "within.jsonl")
	link("nowhere", "dangling")
	ins, err := Discover(day)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, input := range ins {
		rel, _ := filepath.Rel(day, input.Path)
		got = append(got, rel+" "+string(input.refused))
	}
	diff(t, []string{
		"traces/dangling not_a_file", "traces/out.jsonl link_outside_day", "traces/outside link_outside_day",
		"traces/run=a/x.jsonl ", "traces/run=a.b/x ", "traces/run=b/x.jsonl ", "traces/within.jsonl ",
	}, got, cmp.Transformer("sorted", func(s []string) []string { return slices.Sorted(slices.Values(s)) }))
	if !slices.IsSortedFunc(ins, func(a, b Input) int { return strings.Compare(a.Path, b.Path) }) {
		t.Errorf("not in the bytewise order of paths: %v", got)
	}
	traces, faults, _ := readAll(t, day, Defaults())
	if len(traces) != 4 || reasons(faults) != "not_a_file link_outside_day link_outside_day" {
		t.Errorf("%d traces, faults %+v", len(traces), faults)
	}
}

// TestNamesThatAreNoTextAreFaults checks that a file or folder whose name is not valid UTF-8 does
// not end the reading of a day.
func TestNamesThatAreNoTextAreFaults(t *testing.T) {
	t.Parallel()
	day := t.TempDir()
	for _, name := range []string{"run=a/x.jsonl", "run=b/\xff.jsonl", "run=\xfe/x.jsonl"} {
		write(t, filepath.Join(day, "traces", name), line("a"))
	}
	traces, faults, _ := readAll(t, day, Defaults())
	if len(traces) != 1 || reasons(faults) != "bad_name bad_name" {
		t.Errorf("%d traces, faults %+v", len(traces), faults)
	}
}

func TestDiscoverOtherDays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "d1", "traces", "a.jsonl"), line("a"))
	write(t, filepath.Join(dir, "d2", "traces", "run=r", "p.json"), dialogueText)
	write(t, filepath.Join(dir, "d2", "problems.jsonl"), "{}")
	for day, want := range map[string]string{
		"d*": "stdin/a r/p", "d2/traces/run=r/p.json": "r/p", "d2/traces/run=r": "r/p", "d?/traces/*.jsonl": "stdin/a",
		"**/p.json": "r/p", "**": "stdin/a r/p",
	} {
		traces, faults, _ := readAll(t, filepath.Join(dir, day), named())
		if got := strings.Join(ids(traces), " "); got != want || len(faults) > 0 {
			t.Errorf("%s: ids %q, faults %v, want %q", day, got, faults, want)
		}
	}
	for _, day := range []string{"none", "x*", t.TempDir()} {
		if _, err := Discover(day); err == nil || !strings.Contains(err.Error(), day) {
			t.Errorf("%s: %v, want an error that names it", day, err)
		}
	}
	ins, err := Discover(Stdin)
	if err != nil || len(ins) != 1 {
		t.Fatal(ins, err)
	}
	if err := ins[0].Spool(context.Background(), strings.NewReader(line("a")), dir); err != nil || ins[0].Bytes != int64(len(line("a"))) {
		t.Errorf("spooled %+v, %v", ins[0], err)
	}
}

// TestFilesNextToAFolder holds that the name of a folder is no pattern, even with special characters.
func TestFilesNextToAFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"day[1]/problems.jsonl", "day[1]/problems.json.bak", "day[1]/problems.json", "day[1]/traces/problems.jsonl", "day1/problems.jsonl", "day1/run.jsonl"} {
		write(t, filepath.Join(dir, name), "{}")
	}
	for day, want := range map[string][]string{
		"day[1]": {"day[1]/problems.json", "day[1]/problems.jsonl"}, "day?": {"day1/problems.jsonl"},
		"day1/run.jsonl": nil, "none": nil, "day[": nil,
	} {
		var got []string
		for _, path := range SideFiles(filepath.Join(dir, day), TablePattern("problems")) {
			rel, _ := filepath.Rel(dir, path)
			got = append(got, rel)
		}
		diff(t, want, got)
	}
}

func TestBrokenRunMetadataIsAFault(t *testing.T) {
	t.Parallel()
	for _, meta := range []string{"{", "[]", `{"eval_run_id":`} {
		day := t.TempDir()
		write(t, filepath.Join(day, "traces/run=r/run.json"), meta)
		write(t, filepath.Join(day, "traces/run=r/p.json"), dialogueText)
		traces, faults, _ := readAll(t, day, Defaults())
		if len(traces) != 1 || traces[0].ID != "r/p" || reasons(faults) != "bad_run_json" {
			t.Errorf("%s: traces %v, faults %+v", meta, ids(traces), faults)
		}
	}
}
