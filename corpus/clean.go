package corpus

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/corpus/rows"
)

// Redact has every text of every row that is added to the part from now on
// pass through r on its way into the file, whatever column it stands in and
// whatever code made it. What is read back is compared with the rows as they
// were written, so that a finished shard holds no finding.
func (p *Part) Redact(r *redact.Redactor) { p.redactor = r }

// HashColumns hold hashes that this program has computed: they hide nothing,
// and a scan would take them for keys.
var HashColumns = []string{"source_sha256", "record_sha256", "text_sha256", "prompt_sha256", "dedup_cluster", "source_corpus"}

type cleaner struct {
	redactor *redact.Redactor
	counts   redact.Counts
}

// CleanRow passes every text of a row, a pointer to a row type, through r and
// counts what it found: what Part.Redact does to rows on their way into Parquet,
// for other formats. What the row shares with others stays as it is.
func CleanRow(row any, r *redact.Redactor, counts redact.Counts) {
	(&cleaner{redactor: r, counts: counts}).row(row)
}

// row spares the long numbers that the row names as ids of goods: they stay in all
// of its texts, those that the model wrote among them.
func (c *cleaner) row(row any) {
	of := reflect.ValueOf(row).Elem()
	all := textsOf(of.Type())
	if all.each(of, false, c.clean) {
		return
	}
	ids := redact.IDs{}
	all.each(of, false, func(v reflect.Value) bool { ids.Add(v.String()); return true })
	redactor := c.redactor.Sparing(ids)
	all.each(of, true, func(v reflect.Value) bool { v.SetString(redactor.Text(v.String(), c.counts)); return true })
}

// clean reports whether a text holds nothing, whatever ids its row names.
func (c *cleaner) clean(v reflect.Value) bool {
	text := v.String()
	return len(text) < redact.Shortest || c.redactor.Text(text, redact.Counts{}) == text
}

// texts says where a type holds texts that are no hashes: in which fields of a struct, and where in
// each of them or in the elements of a list.
type texts struct {
	fields []int
	within []texts
}

// each visits the texts of a value until visit gives false, and gives what it gave
// last. Lists of a value that is to be changed are copied before: others may hold them
// too.
func (x *texts) each(v reflect.Value, change bool, visit func(reflect.Value) bool) bool {
	goesOn := true
	switch v.Kind() {
	case reflect.String:
		return visit(v)
	case reflect.Slice:
		if change {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		}
		for i := 0; goesOn && i < v.Len(); i++ {
			goesOn = x.within[0].each(v.Index(i), change, visit)
		}
	default:
		for i := 0; goesOn && i < len(x.fields); i++ {
			goesOn = x.within[i].each(v.Field(x.fields[i]), change, visit)
		}
	}
	return goesOn
}

// textsIn are those of the types that were met.
var textsIn sync.Map

func textsOf(t reflect.Type) *texts {
	if found, ok := textsIn.Load(t); ok {
		return found.(*texts) //nolint:forcetypeassert // nothing else is stored
	}
	found := &texts{}
	if t.Kind() == reflect.Slice {
		found.within = []texts{*textsOf(t.Elem())}
	}
	for i := 0; t.Kind() == reflect.Struct && i < t.NumField(); i++ {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
		if k := f.Type.Kind(); (k == reflect.String || k == reflect.Slice || k == reflect.Struct) && !slices.Contains(HashColumns, name) {
			found.fields, found.within = append(found.fields, i), append(found.within, *textsOf(f.Type))
		}
	}
	textsIn.Store(t, found)
	return found
}

// Redaction says what was taken out of a corpus.
type Redaction struct {
	// Rules names the rules, Hotkeys says that accounts of agents went too.
	Rules   string `json:"rules"`
	Hotkeys bool   `json:"hotkeys"`
	// Counts are placeholders by config or table, then by kind.
	Counts map[string]redact.Counts `json:"counts"`
}

func redaction(r *redact.Redactor, shards []placed) *Redaction {
	out := &Redaction{Rules: redact.Rules, Hotkeys: r.Hotkeys(), Counts: map[string]redact.Counts{}}
	for _, s := range shards {
		name := s.Config + s.Table
		if name == "" {
			continue
		}
		if out.Counts[name] == nil {
			out.Counts[name] = redact.Counts{}
		}
		out.Counts[name].Add(s.Redacted)
	}
	return out
}

func (r *Redaction) text() string {
	if r == nil {
		return ""
	}
	accounts := ""
	if r.Hotkeys {
		accounts = ", and so did the accounts of agents"
	}
	return fmt.Sprintf("\n## Redaction\n\nSecrets, keys and phrases of wallets, e-mail, network and wallet addresses, telephone numbers (with a plus or a word that says so), names of home folders and numbers of cards and accounts (IBAN) became placeholders such as `[REDACTED:email]`%s. Rules: %s. No file holds a finding. Not looked for: names of people, postal addresses, numbers of passports, taxes and social security, hardware addresses, secrets in pictures or under ciphers.\n\n", accounts, r.Rules) +
		Table("config or table | placeholders by kind", slices.Sorted(maps.Keys(r.Counts)), func(name string) string {
			return name + " | " + cmp.Or(Tallies(r.Counts[name]), "none")
		})
}

// SecretsLeft is the error of a file that still holds a finding. What a row
// names as an id of goods is none in the whole file.
func SecretsLeft(fs FS, dir, path string, r *redact.Redactor) error {
	if Texts(fs, dir, path, r.Left) == nil {
		return nil
	}
	ids := redact.IDs{}
	if err := Texts(fs, dir, path, func(_, text string) error { ids.Add(text); return nil }); err != nil {
		return err
	}
	return Texts(fs, dir, path, r.Sparing(ids).Left)
}

// Cleaned is a row that passed a redactor before it is added to a part, so that
// several rows do so at once. Nothing outside this package changes it.
type Cleaned[T any] struct {
	row    T
	by     *redact.Redactor
	counts redact.Counts
}

// CleanSFT gives a row whose every text has passed r; nil leaves texts as they
// are. Where that changes messages, their tokens are counted again by c, for
// row too, which otherwise stays as it is.
func CleanSFT(row *rows.SFT, r *redact.Redactor, c rows.Counter) (*Cleaned[rows.SFT], error) {
	out := &Cleaned[rows.SFT]{row: *row, by: r, counts: redact.Counts{}}
	if r == nil {
		return out, nil
	}
	made := &out.row
	CleanRow(made, r, out.counts)
	if slices.Equal(made.Messages, row.Messages) {
		return out, nil
	}
	n, err := rows.Recount(c, made.Messages, row.Tools)
	made.NTokens, row.NTokens = int64(n), int64(n)
	return out, err
}
