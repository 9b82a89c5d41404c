package rewrite_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/corpus/rows"
	"github.com/trajectory-arena/arena/internal/model/modeltest"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/internal/script"
	"github.com/trajectory-arena/arena/pipeline"
	"github.com/trajectory-arena/arena/pipeline/choose"
	"github.com/trajectory-arena/arena/pipeline/finish"
	"github.com/trajectory-arena/arena/pipeline/rewrite"
)

// without removes the results of a day's dialogues. Only the proxy's log has the answers, in full
// up to 2,000 characters and otherwise with their length and ids.
func without(call map[string]any) { delete(call, "result") }

// clipped writes one in which the client wrote down the first 900 characters.
func clipped(call map[string]any) {
	raw, _ := json.Marshal(call["result"])
	v, _ := python.Loads(string(raw))
	if text := python.Dumps(v); len(text) > 900 {
		call["result"] = text[:900]
	}
}

// TestCutResultsArePlayedAgain holds that a day whose results are cut has the same rows as the full
// day, with the shop's own answers as the results.
func TestCutResultsArePlayedAgain(t *testing.T) {
	t.Parallel()
	for _, day := range days(t) {
		rewrites, report := rewritten(t, day, nil)
		for name, cut := range map[string]func(map[string]any){"without": without, "clipped": clipped} {
			t.Run(name+" of "+filepath.Dir(day), func(t *testing.T) {
				t.Parallel()
				got, cutReport := rewritten(t, changed(t, day, func(e map[string]any) {
					eachCall(e, cut)
				}), nil)
				equal := 0
				other := 0
				replayed := 0
				for id, messages := range got {
					if was, known := rewrites[id]; known && !slices.Equal(was, messages) {
						other++
						for i := range min(len(was), len(messages)) {
							if was[i] != messages[i] {
								t.Errorf(
									"attempt %s, message %d of %d and %d: %.1500s\n%.1500s",
									id,
									i,
									len(was),
									len(messages),
									was[i],
									messages[i],
								)
								break
							}
						}
					} else if known {
						equal++
					}
				}
				for _, a := range cutReport.Attempts {
					replayed += a.Replayed
				}
				t.Logf(
					"%s: whole %d rows, cut %d rows, %d the same; %d results played again; %v, left out %v, was %v",
					day,
					len(rewrites),
					len(got),
					equal,
					replayed,
					cutReport.Tally(),
					cutReport.Dropped,
					report.Dropped,
				)
				requests := len(cutReport.Attempts)
				isBelowRate := equal*100 < requests*98 && requests > 100
				if other > 0 || requests != len(report.Attempts) || isBelowRate || equal == 0 || replayed == 0 {
					t.Errorf("%d attempts asked about, %d rows the same, %d others, %d results played again", requests, equal, other, replayed)
				}
			})
		}
	}
}

// TestCutResultsThatDisagreeAreLeftOut checks that an attempt with cut results is left out if a
// replayed result differs from the log.
func TestCutResultsThatDisagreeAreLeftOut(t *testing.T) {
	t.Parallel()
	day := days(t)[0]
	lies := map[string]func(map[string]any){
		"another length": func(e map[string]any) {
			eachCall(e, without)
			eachRecord(e, func(r map[string]any) {
				if n, cut := r["response_length"].(json.Number); cut {
					r["response_length"] = json.Number("1" + n.String())
				} else if list, ok := r["response"].([]any); ok {
					r["response"] = append(list, list...)
				}
			})
		},
		"another request": func(e map[string]any) {
			eachCall(e, without)
			eachRecord(e, func(r map[string]any) {
				if params := r["params"].(map[string]any); r["response"] == nil {
					params["product_ids"] = "1" + params["product_ids"].(string)
				}
			})
		},
		"another text": func(e map[string]any) {
			eachCall(e, func(c map[string]any) {
				clipped(c)
				if text, is := c["result"].(string); is && len(text) == 900 {
					c["result"] = text[:899] + "~"
				}
			})
		},
	}
	for name, lie := range lies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, report := rewritten(t, changed(t, day, lie), nil)
			t.Logf("%d scripted, %d rows, %v, %v", report.Scripted, len(got), report.Dropped, report.Tally())
			if report.Dropped["cut_result"] == 0 || strings.Contains(report.Cut(), "; 0 other") {
				t.Errorf("%v: %s", report.Dropped, report.Cut())
			}
			for _, a := range report.Attempts {
				if a.Replayed > 0 {
					t.Errorf("attempt %s has %d results that the log denies", a.ID, a.Replayed)
				}
			}
		})
	}
}

// TestCutResultsWithoutTheirCatalogue checks that the products of another day match no result of
// the log, and that a cut day without a catalogue cannot be read.
func TestCutResultsWithoutTheirCatalogue(t *testing.T) {
	t.Parallel()
	day := changed(t, days(t)[0], func(e map[string]any) {
		eachCall(e, without)
	})
	other := filepath.Join(t.TempDir(), "catalog.jsonl")
	product := `{"product_id":"1","shop_id":"1","title":"lamp","price":1,"service":[],"sold_count":1,"short_description":"","description":"","attributes":{},"sku_options":{}}`
	if err := os.WriteFile(other, []byte(product+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, report := rewritten(t, day, []string{other})
	if n := report.Dropped["cut_result"]; len(got) > 0 || n == 0 {
		t.Errorf("%d rows, %v", len(got), report.Dropped)
	}
	corpusDir := build(t, day)
	if err := os.Remove(filepath.Join(day, "catalog.jsonl")); err != nil {
		t.Fatal(err)
	}
	if _, err := rewriting(t, day, corpusDir, nil).Write(t.Context()); !errors.Is(err, pipeline.ErrNoCatalog) {
		t.Errorf("without a catalogue: %v", err)
	}
}

// rewritten are the messages of a day's rewritten rows by their attempt, of an honest
// model.
func rewritten(
	t *testing.T,
	day string,
	catalogs []string,
) (map[string][]string, *rewrite.Report) {
	t.Helper()
	r := rewriting(
		t,
		day,
		build(t, day),
		panel(
			t,
			modeltest.New(t, writer((*script.Shown).Honest)),
			t.TempDir(),
		),
	)
	r.Sources.Catalogs = catalogs
	report, err := r.Write(t.Context())
	if err != nil && !errors.Is(err, choose.ErrEmpty) {
		t.Fatal(err)
	}
	rewrites := map[string][]string{}
	if err != nil {
		return rewrites, report
	}
	source, err := finish.Open(corpus.Disk{}, r.Out)
	if err != nil {
		t.Fatal(err)
	}
	err = finish.Rows(source, corpus.ProfileHFJSON, corpus.SplitTrain, func(row *rows.SFT) error {
		var messages []string
		for _, text := range row.Messages { // the order of keys and the reasoning are not what is asked
			var m map[string]any
			if bad := json.Unmarshal([]byte(text), &m); bad != nil {
				return bad
			}
			delete(m, "reasoning_content")
			m["content"] = string(compact(t, []byte(m["content"].(string))))
			b, bad := json.Marshal(m)
			if bad != nil {
				return bad
			}
			messages = append(messages, string(b))
		}
		rewrites[strings.Clone(gjson.Get(row.Metadata, "source_attempt").String())] = messages
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rewrites, report
}

// changed copies a day with the attempts of programs changed.
func changed(t *testing.T, day string, change func(envelope map[string]any)) string {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "day")
	if err := os.CopyFS(dst, os.DirFS(day)); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dst, "traces", "run=*", "output.jsonl*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	program := map[string]bool{}
	for _, line := range read(t, filepath.Join(day, "labels.jsonl")) {
		v := gjson.Parse(line)
		program["run="+v.Get("eval_run_id").String()+"/"+v.Get("problem_id").String()] = v.Get("agentic").Type == gjson.False
	}
	for _, path := range files {
		lines := read(t, path)
		var b strings.Builder
		for _, line := range lines {
			var e map[string]any
			d := json.NewDecoder(strings.NewReader(line))
			d.UseNumber()
			if err := d.Decode(&e); err != nil {
				t.Fatal(err)
			}
			if program[filepath.Base(filepath.Dir(path))+"/"+e["problem_id"].(string)] {
				change(e)
			}
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(string(text) + "\n")
		}
		if err := errors.Join(os.Remove(path), os.WriteFile(strings.TrimSuffix(path, ".gz"), []byte(b.String()), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	return dst
}

func read(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var reader io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if reader, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// eachCall visits the calls that a dialogue lists, eachRecord the entries of its log.
func eachCall(e map[string]any, visit func(map[string]any)) {
	eachStep(e, func(step map[string]any) {
		message := step["completion"].(map[string]any)["message"].(map[string]any)
		visitAll(message["tool_call"], visit)
	})
}

func eachRecord(e map[string]any, visit func(map[string]any)) {
	eachStep(e, func(step map[string]any) {
		visitAll(step["extra_info"].(map[string]any)["proxy_calls"], func(r map[string]any) {
			if !strings.Contains(r["path"].(string), "inference") {
				visit(r)
			}
		})
	})
}

func eachStep(e map[string]any, visit func(map[string]any)) { visitAll(e["dialogue"], visit) }

func visitAll(list any, visit func(map[string]any)) {
	items, _ := list.([]any)
	for _, v := range items {
		visit(v.(map[string]any))
	}
}
