package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/guard/rows"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// plant is a problem of the sample day whose request is protected, asked in
// other words. What is searched for later is mark, a piece of those words.
type plant struct{ kind, problem, text, mark string }

// plants are written by hand, one for each way to ask again.
var plants = []plant{
	{"white space", "c7492af7-f589-4054-a5a6-7784cb5b0f26", "  PLEASE find a fountain pen by  tisaigi,\tmade of rubber , colour amber.\n", "PLEASE find a fountain pen"},
	{"light", "63ea5f48-f785-4a7e-a82f-c020ae4336e8", "Kindly show us a fountain pen by tisaigi, made of rubber, in amber.", "Kindly show us"},
	{"heavy", "2d843c8b-a20c-4200-a170-c3d018c4768f", "we're setting up a home gym corner and would love to order from one store only: purebefe's glass yoga block in coral (4050 is my limit there), a bamboo bell for the bicycle from stezeope that ships free, and turquoise climbing chalk, the glass one pastaisineo makes", "home gym corner"},
	{"notation", "a34445fb-3342-4441-aecc-038aac01a87b", "shower curtain (bupaisu / felt / charcoal) + rain poncho (badeo / glass / ivory, max PHP 872.00). Budget PHP 2,372.00; voucher: -PHP 621.00 from PHP 2,394.00 on.", "shower curtain (bupaisu"},
	{"typing errors", "0545685d-4fa7-4b70-aed2-2d03bd29da1a", "show me a readng lmap by bretreogusta, mad of crok", "readng lmap"},
	{"Spanish", "b7c99f79-24cb-4292-aa30-4a68d075be06", "Busco un marco de fotos de kubeo, de goma, color menta, con envío gratis.", "marco de fotos"},
	{"reordered", "ba59ace0-8cda-4d53-a603-76355a5b1490", "I want to buy from a single seller: (1) a cat tunnel by sostepeoteo, made of aluminium, colour crimson; (2) a travel adapter by klabu, made of rubber; (3) a stapler by veokla, made of glass, colour amber, for at most 3118 pesos.", "(2) a travel adapter by klabu"},
	{"German", "a8d994cf-5b3c-489f-abcc-3c8f4bbdfec7", "Ich suche eine Fußmatte von kubeo aus Aluminium, Farbe crimson, für höchstens 1294 Pesos.", "matte von kubeo"},
	{"inside a longer text", "b8b81153-f77b-4f61-a25b-87eaeba4bbc4", "Hi, my parcel of last week came with a torn box, but the cups inside are fine, so no need to send them again. Now to today's order: a door mat by kubeo, made of aluminium, for at most 1414 pesos. By the way, do you still sell those blue towels that my sister bought in spring?", "parcel of last week"},
}

// The answer that leaks: a protected product by id and by title, in the model's thinking and in its
// tool calls.
const (
	secretID    = "9876543210"
	secretTitle = "Veltrano folding copper kettle whistle 2 pcs"
)

var answers = []struct{ problem, before, after string }{
	{"ce3a9240-e24d-48a6-ab60-de1938fa6ec6", `"think": "`, `"think": "Is ` + secretID + ` the one? `},
	{"ce3a9240-e24d-48a6-ab60-de1938fa6ec6", `<think>`, `<think>Is ` + secretID + ` the one? `},
	{"6ad2567c-3159-426f-a625-b7b1e77d8f9d", `"think": "`, `"think": "First\n` + secretTitle + ` came to my mind. `},
	{"6ad2567c-3159-426f-a625-b7b1e77d8f9d", `<think>`, `<think>First\n` + secretTitle + ` came to my mind. `},
	{"39864d0b-693d-4489-aecf-635b664e4116", `"q": "`, `"q": "` + secretTitle + ` `},
	{"39864d0b-693d-4489-aecf-635b664e4116", `\"q\": \"`, `\"q\": \"` + secretTitle + ` `},
}

// later is a protected request that the customer makes in the middle of another problem, in formats
// that have such messages.
var later = plant{"later message", "cd95a141-19cc-4a1a-a00a-80311411f951", "oh and before I forget, also get me a reading lamp made of cork, the one by bretreogusta", "oh and before I forget"}

// TestPlantedProblemsReachNoTrainer builds a day into which protected problems
// were planted in other words, and protected answers into other problems'
// attempts, as sandbox envelopes, OpenAI messages and ATIF. With a bank that knows
// nothing of it every plant is in the corpus; with the bank that protects them
// no file that a trainer loads holds any, of any split, config or export. OpenAI
// messages hold every kind of plant; the other two are read with the tag long.
func TestPlantedProblemsReachNoTrainer(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it looks into files that other tests have the race detector see written")
	}
	t.Parallel()
	arena := program(t)
	dir := t.TempDir()
	bank := writeBank(t, dir)
	stranger := filepath.Join(dir, "stranger.jsonl")
	put(t, stranger, []byte(`{"id":"s","text":"eleven pewter snow globes for a museum of lighthouses"}`+"\n"))
	day := plantedDay(t, dir)
	formats := []string{"openai"}
	if longtest.Tests {
		formats = append(formats, "envelopes", "atif")
	}
	for _, format := range formats {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			folder := day
			if format != "envelopes" {
				folder = converted(t, arena, day, format)
			}
			out := t.TempDir()
			open := loaded(t, arena, folder, stranger, filepath.Join(out, "open"))
			stored := loaded(t, arena, folder, bank, filepath.Join(out, "kept"))
			for _, mark := range marks() {
				if open.rows[mark] == 0 && (mark != later.mark || format == "openai") {
					t.Errorf("%q is in no row even where nothing protects it", mark)
				}
				if n := stored.rows[mark]; n > 0 {
					t.Errorf("%q is in %d rows, the last in %s", mark, n, stored.last[mark])
				}
			}
			if stored.total == 0 {
				t.Error("nothing is left to train on")
			}
			t.Logf("%s: %d rows in %d files without protection, %d of them planted; with it %d rows, none", format, open.total, open.files, open.planted, stored.total)
		})
	}
}

func marks() []string {
	out := []string{secretID, secretTitle, later.mark}
	for _, p := range plants {
		out = append(out, p.mark, p.problem)
	}
	return out
}

// loadCounts has the numbers of loaded rows and files, and for each planted text the number of its
// rows and the path that was read last of those with it.
type loadCounts struct {
	total, planted, files int
	rows                  map[string]int
	last                  map[string]string
}

// loaded builds and exports a corpus, and reads all files of both that a trainer reads.
func loaded(t *testing.T, arena, day, bank, out string) loadCounts {
	t.Helper()
	for _, args := range [][]string{
		// An imported trace has no proxy log, which would show who decided.
		{"build", day, "-o", out, "--held-out", bank, "--steps", "--set", "filter.unknown=keep", "--set", "guard.seed=2", "-q"},
		{"export", out, "--profile", "all", "-o", out + ".exported"},
	} {
		if b, err := exec.Command(arena, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, b)
		}
	}
	f := loadCounts{rows: map[string]int{}, last: map[string]string{}}
	for _, folder := range []string{filepath.Join(out, "data"), out + ".exported"} {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			// No trainer loads the bank, and arena publish does not upload it.
			if err != nil || d.IsDir() || d.Name() == "bank.json" {
				return err
			}
			f.files++
			return f.read(path)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// read reads files of rows row by row, and other files (Arrow, cards, scripts) at once.
func (f *loadCounts) read(path string) error {
	name := strings.TrimSuffix(path, ".zst")
	if ext := filepath.Ext(name); ext != ".parquet" && ext != ".jsonl" {
		b, err := os.ReadFile(path)
		f.note(path, string(b))
		return err
	}
	return rows.Each(path, func(r rows.Row) error {
		f.total++
		f.note(path, r.JSON)
		return nil
	})
}

func (f *loadCounts) note(path, text string) {
	inBank := false
	for _, mark := range marks() {
		if strings.Contains(text, mark) {
			inBank = true
			f.rows[mark]++
			f.last[mark] = path
		}
	}
	if inBank {
		f.planted++
	}
}

// writeBank writes a bank that protects the requests of the sample day, by text alone, and one more
// problem with a product.
func writeBank(t *testing.T, dir string) string {
	t.Helper()
	var out bytes.Buffer
	planted := map[string]bool{}
	for _, p := range plants {
		planted[p.problem] = p.kind != "light" // it rewords the one before it
	}
	err := rows.Each(filepath.Join(testDay, "problems.jsonl"), func(r rows.Row) error {
		c := rows.Read(r)
		if !planted[c.ID] {
			return nil
		}
		return json.NewEncoder(&out).Encode(map[string]string{"id": "held-" + c.ID, "text": c.Request})
	})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, `{"id":"secret","query":"a copper kettle that folds and whistles, by veltrano, two of them","reward":{"product_id":%q,"title":[%q]}}`+"\n", secretID, secretTitle)
	path := filepath.Join(dir, "bank.jsonl")
	put(t, path, out.Bytes())
	return path
}

// plantedDay is the sample day with the plants in its problems and traces.
func plantedDay(t *testing.T, dir string) string {
	t.Helper()
	day := filepath.Join(dir, "day")
	if err := os.CopyFS(day, os.DirFS(testDay)); err != nil {
		t.Fatal(err)
	}
	requests := map[string]string{}
	err := rows.Each(filepath.Join(day, "problems.jsonl"), func(r rows.Row) error {
		c := rows.Read(r)
		requests[c.ID] = c.Request
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(day, func(path string, d fs.DirEntry, err error) error {
		if name := filepath.Base(path); err != nil || name != "problems.jsonl" && name != "output.jsonl.gz" {
			return err
		}
		return rewrite(path, func(line string) string { return planted(line, requests) })
	})
	if err != nil {
		t.Fatal(err)
	}
	return day
}

// planted rewrites a problem or an attempt.
func planted(line string, requests map[string]string) string {
	for _, p := range plants {
		if strings.Contains(line, p.problem) {
			line = strings.ReplaceAll(line, quoted(requests[p.problem]), quoted(p.text))
		}
	}
	for _, a := range answers {
		if strings.Contains(line, a.problem) && strings.Contains(line, `"dialogue"`) {
			line = strings.ReplaceAll(line, a.before, a.after)
		}
	}
	return line
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string is always encoded
	}
	return string(b)
}

// rewrite passes every line of a file, compressed or not, through change.
func rewrite(path string, change func(string) string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	zipped := strings.HasSuffix(path, ".gz")
	if zipped {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(b)); err != nil {
			return err
		}
		if b, err = io.ReadAll(z); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(b)) {
		out.WriteString(change(line))
	}
	if !zipped {
		return os.WriteFile(path, out.Bytes(), 0o600)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(out.Bytes())
	return errors.Join(err, z.Close(), os.WriteFile(path, packed.Bytes(), 0o600))
}

// converted is the same day in another trace format.
func converted(t *testing.T, arena, day, format string) string {
	t.Helper()
	out := t.TempDir()
	if err := os.MkdirAll(filepath.Join(out, "traces"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"problems.jsonl", "catalog.jsonl"} {
		b, err := os.ReadFile(filepath.Join(day, name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(out, name), b)
	}
	c := exec.Command(arena, "convert", day, "--to", format, "-o", filepath.Join(out, "traces", "day.jsonl"), "-q")
	if b, err := c.CombinedOutput(); err != nil {
		t.Fatalf("convert: %v\n%s", err, b)
	}
	if format == "openai" {
		if err := rewrite(filepath.Join(out, "traces", "day.jsonl"), interrupted); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// interrupted adds a message of the customer before the model's last message.
func interrupted(line string) string {
	start := strings.LastIndex(line, `{"role":"assistant"`)
	if start < 0 || !strings.Contains(line, later.problem) {
		return line
	}
	return line[:start] + `{"role":"assistant","content":"Is there anything else?"},{"role":"user","content":` + quoted(later.text) + `},` + line[start:]
}

func put(t *testing.T, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}
