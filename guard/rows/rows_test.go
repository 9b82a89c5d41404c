package rows

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/klauspost/compress/zstd"

	"github.com/trajectory-arena/arena/internal/longtest"
)

func TestReadReadsEveryFormat(t *testing.T) {
	t.Parallel()
	lamp := []string{"a lamp"}
	for name, c := range map[string]struct {
		row  string
		want Content
	}{
		"text": {`{"id":7,"text":"a lamp"}`, Content{ID: "7", Request: "a lamp", Conversation: lamp}},
		"problem": {
			`{"problem_id":"p","query":"a lamp","reward":[{"product_id":12345678901234567890,"title":["Lamp"],"attributes":[{"colour":["red"]}]}]}`,
			Content{ID: "p", Request: "a lamp", Conversation: lamp, ItemIDs: []string{"12345678901234567890"}, Titles: []string{"Lamp"}, Terms: []string{"red"}, Metadata: []string{"12345678901234567890\nLamp\nred"}},
		},
		"messages": {
			`{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"a lamp"},{"role":"assistant","content":null,"tool_calls":[{"x":1}]},{"role":"tool","content":"neighbours"},{"role":"user","content":"in red"},{"role":"assistant","content":"done"}]}`,
			Content{Request: "a lamp", Context: []string{"in red"}, System: []string{"be kind"}, Conversation: []string{"be kind", "a lamp", "in red"}, Answers: []string{`[{"x":1}]`, "done"}, Results: []string{"neighbours"}},
		},
		"sharegpt": {
			`{"conversations":[{"from":"human","value":"a lamp"},{"from":"function_call","value":"call"},{"from":"observation","value":"neighbours"},{"from":"gpt","value":"done"}],"system":"be kind"}`,
			Content{Request: "a lamp", System: []string{"be kind"}, Conversation: []string{"be kind", "a lamp"}, Answers: []string{"call", "done"}, Results: []string{"neighbours"}},
		},
		"results in user turns": {
			`{"messages":[{"role":"user","content":"a lamp"},{"role":"user","content":" <obs>neighbours</obs>"},{"role":"user","content":"<tool_response>\nneighbours"}]}`,
			Content{Request: "a lamp", Conversation: lamp, Results: []string{"neighbours", "neighbours"}},
		},
		"words after a result": {
			`{"messages":[{"role":"user","content":"a lamp"},{"role":"user","content":"<tool_response>\n1\n</tool_response>\nin red"}]}`,
			Content{Request: "a lamp", Context: []string{"in red"}, Conversation: []string{"a lamp", "in red"}, Results: []string{"1"}},
		},
		"calls in tags": {
			`{"messages":[{"role":"assistant","content":"<think>hm</think>\nlet me\n<tool_call>\n{\"name\":\"recommend_product\",\"arguments\":{\"product_ids\": \"1,2\"},\"note\":\"why\"}\n</tool_call>\n<tool_call>no call</tool_call>"}]}`,
			Content{Answers: []string{"hm", "let me", "recommend_product", `{"product_ids":"1,2"}`, "why", "no call"}, AnswerIDs: []string{"1", "2"}},
		},
		"calls of OpenAI": {
			`{"messages":[{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"q\": 1}"}},{"function":{"name":"g","arguments":"broken {"}}]}]}`,
			Content{Answers: []string{"f", `{"q":1}`, "g", "broken {"}},
		},
		"calls of ShareGPT": {
			`{"conversations":[{"from":"function_call","value":"<think>hm</think>[{\"name\":\"f\",\"arguments\":{\"q\":1}},{\"name\":\"g\",\"arguments\":{}}]"},{"from":"observation","value":"[\"one\",[\"two\"],{\"n\":3}]"}]}`,
			Content{Answers: []string{"hm", "f", `{"q":1}`, "g", "{}"}, Results: []string{"one", "two", `{"n":3}`, "one\ntwo\n{\"n\":3}"}},
		},
		"calls in parts": {
			`{"messages":[{"role":"assistant","content":[{"type":"text","text":"see"},{"type":"tool_use","id":"1","name":"f","input":{"q":1}}]}],"contents":[{"role":"model","parts":[{"functionCall":{"name":"g","args":{"q":2}}}]}],"output":[{"type":"function_call","call_id":"1","name":"h","arguments":"{}"}]}`,
			Content{Answers: []string{"see", "f", `{"q":1}`, "g", `{"q":2}`}, Metadata: []string{"function_call\n1\nh"}},
		},
		"steps with results": {
			`{"steps":[{"source":"user","message":"a lamp"},{"source":"agent","message":"see","observation":{"results":[{"content":"neighbours"}]}}]}`,
			Content{Request: "a lamp", Conversation: lamp, Answers: []string{"see"}, Results: []string{"neighbours"}},
		},
		"preference": {
			`{"prompt":[{"role":"user","content":"a lamp"}],"chosen":[{"role":"assistant","content":"good"}],"rejected":[{"role":"assistant","content":"bad"}]}`,
			Content{Request: "a lamp", Conversation: lamp, Answers: []string{"good", "bad"}},
		},
		"rl": {
			`{"prompt":[{"role":"user","content":[{"type":"text","text":"a lamp"}]}],"reward_model":{"style":"rule","ground_truth":"{\"product_id\":\"99\"}"}}`,
			Content{Request: "a lamp", Conversation: lamp, ItemIDs: []string{"99"}, Metadata: []string{"rule\n99"}},
		},
		"strings":      {`{"instruction":"a lamp","output":"done","recommended_product_ids":"1, 2"}`, Content{Request: "a lamp", Conversation: lamp, Answers: []string{"done"}, ItemIDs: []string{"1", "2"}, Metadata: []string{"1, 2"}}},
		"unknown":      {`{"id":"x","story":{"parts":["a lamp","in red"]}}`, Content{ID: "x", Request: "a lamp", Context: []string{"in red"}, Conversation: []string{"a lamp", "in red"}, Metadata: []string{"a lamp\nin red"}, Guessed: true}},
		"nothing":      {`{"id":"x","n":1}`, Content{ID: "x", Metadata: []string{"1"}, Guessed: true}},
		"wrong shapes": {`{"messages":"x","reward":3,"query":{"query":4},"text":["a"]}`, Content{Request: "x", Context: []string{"a"}, Conversation: []string{"x", "a"}, Metadata: []string{"4", "3", "a"}, Guessed: true}},
	} {
		if diff := cmp.Diff(c.want, Read(Row{JSON: c.row}), cmpopts.IgnoreUnexported(Content{})); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// TestEveryTextIsSearched puts a text where a reader might pass over it: it is among the texts that the
// guard searches for rewordings, and not among the results of tools.
func TestEveryTextIsSearched(t *testing.T) {
	t.Parallel()
	const text = "a lamp of brass"
	const messages = `{"messages":[{"role":"user","content":"hello"},%s]}`
	const head = `# Tools\n\nThese functions may be called, one JSON definition a line:\n<tools>\n`
	const end = `\n</tools>\n\nWrite each call as one JSON object with its name and arguments:\n<tool_call>\n{\"name\": \"<function>\", \"arguments\": {<arguments>}}\n</tool_call>`
	for name, row := range map[string]string{
		"a line among tools":          fmt.Sprintf(messages, `{"role":"system","content":"`+head+text+end+`"}`),
		"behind a tool":               fmt.Sprintf(messages, `{"role":"system","content":"`+head+`{} `+text+end+`"}`),
		"two kinds of arguments":      fmt.Sprintf(messages, `{"role":"assistant","tool_calls":[{"name":"f","arguments":{"q":"`+text+`"},"parameters":{}}]}`),
		"arguments twice":             fmt.Sprintf(messages, `{"role":"assistant","tool_calls":[{"name":"f","arguments":{"q":"`+text+`"},"arguments":{}}]}`),
		"a name and a function":       fmt.Sprintf(messages, `{"role":"assistant","tool_calls":[{"name":"`+text+`","function":{"name":"f","arguments":{}}}]}`),
		"a part with a call":          fmt.Sprintf(messages, `{"role":"model","parts":[{"text":"`+text+`","functionCall":{"name":"f","args":{}}}]}`),
		"the id of a call":            fmt.Sprintf(messages, `{"role":"assistant","content":"<tool_call>{\"name\":\"f\",\"arguments\":{},\"id\":\"`+text+`\"}</tool_call>"}`),
		"the type of a call":          fmt.Sprintf(messages, `{"role":"assistant","tool_calls":[{"type":"`+text+`","name":"f","arguments":{}}]}`),
		"the format of a message":     fmt.Sprintf(messages, `{"role":"assistant","content":"see","format":"`+text+`"}`),
		"deep":                        fmt.Sprintf(messages, `{"role":"assistant","tool_calls":[{"name":"f","arguments":{},"x":[[[[[[[[[[[[[["`+text+`"]]]]]]]]]]]]]]}]}`),
		"an object from somewhere":    `{"query":"hello","extra_info":{"source":"web","question":"` + text + `"}}`,
		"an object with a role":       `{"query":"hello","annotation":{"role":"tester","text":"` + text + `"}}`,
		"a row of results":            `{"result":"` + text + `"}`,
		"a row of lists of results":   `{"documents":["` + text + `"]}`,
		"an object that is a message": `{"query":"hello","last":{"role":"assistant","content":"` + text + `"}}`,
	} {
		c := Read(Row{JSON: row})
		searched := slices.Concat(c.Conversation, c.Answers, c.Metadata)
		if !strings.Contains(strings.Join(searched, "\n"), text) {
			t.Errorf("%s: not in %q", name, searched)
		}
	}
}

// TestNestedResultsAreReadOnce reads results in lists in lists: reading takes time in their size.
func TestNestedResultsAreReadOnce(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("[", 200) + strings.Repeat(" ", 1000) + strings.Repeat("]", 200)
	if got := SplitResults(text); len(got) != 1 || !strings.HasPrefix(got[0], "[[") {
		t.Errorf("results: %.100q", got)
	}
}

func read(path string) (lines []string, err error) {
	err = Each(path, func(r Row) error {
		lines = append(lines, Read(r).Request)
		return nil
	})
	return lines, err
}

func TestEachReadsEveryFileType(t *testing.T) {
	t.Parallel()
	lines := "{\"text\":\"one\"}\n\n{\"text\":\"two\"}"
	var zipped, zippedTable, packed bytes.Buffer
	z := gzip.NewWriter(&zipped)
	table := gzip.NewWriter(&zippedTable)
	if _, err := table.Write([]byte("text\none\ntwo\n")); err != nil {
		t.Fatal(err)
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{z, p} {
		if _, err := w.Write([]byte(lines)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{
		"a.jsonl": lines, "a.jsonl.gz": zipped.String(), "a.jsonl.zst": packed.String(),
		"a.json": " \n[{\"text\":\"one\"},\n{\"text\":\"two\"}]", "bom.jsonl": "\ufeff" + lines, "a.parquet": parquetFile(t, "sample.parquet"), "a.csv": "n,text\n1,one\n2,two\n", "a.tsv": "text\tn\none\t\"a\nb\"\ntwo\t\n",
		"a.arrow": arrowOf(t, fileOf), "a.csv.gz": zippedTable.String(),
		"stream.arrow": arrowOf(t, streamOf),
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := read(path)
		if err != nil || strings.Join(got, " ") != "one two" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if stem := Stem(path); stem != "a" && stem != "bom" && stem != "stream" {
			t.Errorf("%s: stem %q", name, stem)
		}
	}
}

// sample is two rows of text and n.
const sample = `[{"text":"one","n":[1]},{"text":"two","n":[]}]`

// sampleSchema is that of sample.
var sampleSchema = arrow.NewSchema([]arrow.Field{
	{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "n", Type: arrow.ListOf(arrow.PrimitiveTypes.Int64), Nullable: true},
}, nil)

// recordOf converts the rows of sample into columns.
func recordOf(t testing.TB) arrow.RecordBatch {
	t.Helper()
	record, _, err := array.RecordFromJSON(memory.DefaultAllocator, sampleSchema, strings.NewReader(sample))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(record.Release)
	return record
}

// batchWriter is what both containers of Arrow are written with.
type batchWriter interface {
	Write(arrow.RecordBatch) error
	Close() error
}

func fileOf(out *bytes.Buffer, schema *arrow.Schema) (batchWriter, error) {
	return ipc.NewFileWriter(out, ipc.WithSchema(schema))
}

func streamOf(out *bytes.Buffer, schema *arrow.Schema) (batchWriter, error) {
	return ipc.NewWriter(out, ipc.WithSchema(schema)), nil
}

func arrowOf(t testing.TB, container func(*bytes.Buffer, *arrow.Schema) (batchWriter, error)) string {
	t.Helper()
	record := recordOf(t)
	var out bytes.Buffer
	w, err := container(&out, record.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(record); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// parquetFile returns a file that another implementation of Parquet, arrow-go, wrote:
// sample.parquet has the rows of sample, texts.parquet those that its test names.
func parquetFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestParquetKeepsEveryText checks the values that the untyped reader returns in another form than
// JSON needs: bytes, maps of text, and NaN.
func TestParquetKeepsEveryText(t *testing.T) {
	t.Parallel()
	// columns of bytes, a map, a number and a list of structs with the rows
	// [{"bytes":"a lamp","map":[{"key":"k","value":"in red"}],"nan":NaN,"turns":[{"say":"one"},{"say":null}]},{}]
	path := filepath.Join("testdata", "texts.parquet")
	var got []string
	if err := Each(path, func(r Row) error { got = append(got, r.JSON); return nil }); err != nil {
		t.Fatal(err)
	}
	want := []string{
		`{"bytes":"a lamp","map":{"k":"in red"},"nan":null,"turns":[{"say":"one"},{"say":null}]}`,
		`{"bytes":null,"map":null,"nan":null,"turns":null}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestEachErrorHasLine(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{
		"{\"text\":\"one\"}\n{\"text\":": "line 2", "[1]": "element 0", "[{}": "not valid JSON", "17": "line 1", "PAR1": "parquet", "\x1f\x8bno": "gzip",
	} {
		path := filepath.Join(t.TempDir(), "broken.jsonl")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", content, err, want)
		}
	}
	if err := Each(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a missing file is read")
	}
}

func TestFilesOmitsMetadata(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"manifest.json", "bank.json", "README.md", "data/sft/b.parquet", "data/sft/a.parquet", "tables/leaks.parquet", "reports/leak.json", "more/x.jsonl.gz"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		rel, err := filepath.Rel(dir, f)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	if want := []string{"data/sft/a.parquet", "data/sft/b.parquet", "more/x.jsonl.gz"}; !cmp.Equal(got, want) {
		t.Errorf("files %v, want %v", got, want)
	}
}

func FuzzReadNeverPanics(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":[{"text":1}]}],"reward":"[[[{}]]]","prompt":[[]]}`)
	f.Add(`[{"query":{"query":{}}}]`)
	f.Fuzz(func(_ *testing.T, text string) {
		_ = EachInStream(strings.NewReader(text), "fuzz", LineBytes, func(r Row) error {
			Read(r)
			return nil
		})
	})
}

// TestDamagedColumnsAreErrors cuts files short and damages Parquet at every
// place, or at every 17th without the tag long: none may panic.
func TestDamagedColumnsAreErrors(t *testing.T) {
	t.Parallel()
	table := parquetFile(t, "sample.parquet")
	var damaged []string
	stride := longtest.Pick(1, 17)
	for i := 0; i < len(table); i += stride {
		damaged = append(damaged, table[:i]+"\xff"+table[i+1:])
	}
	for _, text := range []string{table, arrowOf(t, fileOf), arrowOf(t, streamOf)} {
		for i := 4; i < len(text); i += 16 * stride {
			damaged = append(damaged, text[:i])
		}
	}
	path := filepath.Join(t.TempDir(), "damaged.bin")
	refused := 0
	for _, content := range damaged {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path); err != nil {
			refused++
		}
	}
	if refused < len(damaged)/3 {
		t.Errorf("%d of %d damaged files are refused", refused, len(damaged))
	}
}
