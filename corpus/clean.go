package corpus

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/internal/slicesx"
)

// SetRedactor sets the redactor for every text in every row that is added afterwards. Finished
// shards are read back and compared with the redacted rows, so that they contain no secret that
// r finds.
func (p *Part) SetRedactor(r *redact.Redactor) { p.redactor = r }

// HashColumns are the columns with hashes that this program computed. They contain no secrets,
// although a redactor would recognise the hashes as keys.
var HashColumns = []string{"source_sha256", "record_sha256", "text_sha256", "prompt_sha256", "dedup_cluster", "source_corpus"}

// cleaner redacts rows and counts the inserted placeholders by kind.
type cleaner struct {
	redactor *redact.Redactor
	counts   redact.Counts
}

// CleanRow removes secrets from every text of a row, as a part with a redactor does. row must be a
// pointer. The inserted placeholders are added to counts. Memory that the row shares with other
// rows is not changed.
func CleanRow(row any, r *redact.Redactor, counts redact.Counts) {
	c := cleaner{redactor: r, counts: counts}
	c.clean(row)
}

// clean removes secrets from the texts of a row, passed as a pointer. Numbers that the row declares
// as ids are kept in all of its texts, even if they look like card numbers.
func (c *cleaner) clean(row any) {
	v := reflect.ValueOf(row).Elem()
	fields := textFieldsOf(v.Type())
	if fields.visit(v, false, c.isClean) {
		return
	}
	ids := redact.IDs{}
	fields.visit(v, false, func(text reflect.Value) bool {
		ids.Add(text.String())
		return true
	})
	redactor := c.redactor.Sparing(ids)
	fields.visit(v, true, func(text reflect.Value) bool {
		text.SetString(redactor.Text(text.String(), c.counts))
		return true
	})
}

// isClean reports whether the string v needs no redaction: it is shorter than any secret, or the
// redactor finds no secret in it. Numbers that the row declares as ids are not exempted for this
// check, so that a true result holds with and without exemptions.
func (c *cleaner) isClean(v reflect.Value) bool {
	text := v.String()
	return len(text) < redact.Shortest || c.redactor.Text(text, redact.Counts{}) == text
}

// textFields describes where a row type has strings to redact. For a struct, fields has the indices
// of those of its fields that contain strings, and children their descriptions in the same order.
// For a list or pointer, the only child describes an element. Columns of hashes are left out.
type textFields struct {
	fields   []int
	children []textFields
}

// visit calls visit for each string of v until a call returns false, and reports whether all
// calls returned true. If change is true, visit may modify the strings. Lists and what is pointed at are
// then copied first, because other rows may share them.
func (x *textFields) visit(
	v reflect.Value,
	change bool,
	visit func(reflect.Value) bool,
) bool {
	switch v.Kind() {
	case reflect.String:
		return visit(v)
	case reflect.Slice:
		if change {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		}
		for i := range v.Len() {
			if !x.children[0].visit(v.Index(i), change, visit) {
				return false
			}
		}
	case reflect.Pointer: // an optional column
		if v.IsNil() {
			return true
		}
		if change {
			copied := reflect.New(v.Type().Elem())
			copied.Elem().Set(v.Elem())
			v.Set(copied)
		}
		return x.children[0].visit(v.Elem(), change, visit)
	default:
		for i, field := range x.fields {
			if !x.children[i].visit(v.Field(field), change, visit) {
				return false
			}
		}
	}
	return true
}

// textFieldsCache maps the type of a row to a description of its string fields (*textFields), so
// that each type is examined only once.
var textFieldsCache sync.Map

func textFieldsOf(t reflect.Type) *textFields {
	if cached, ok := textFieldsCache.Load(t); ok {
		return cached.(*textFields) //nolint:forcetypeassert // nothing else is stored
	}
	x := &textFields{}
	switch t.Kind() {
	case reflect.Slice, reflect.Pointer:
		x.children = []textFields{*textFieldsOf(t.Elem())}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if mayContainText(f) {
				x.fields = append(x.fields, i)
				x.children = append(x.children, *textFieldsOf(f.Type))
			}
		}
	}
	textFieldsCache.Store(t, x)
	return x
}

// mayContainText reports whether a field of a row type may contain texts to redact: it must be a
// string, list or struct, or a pointer to one, and not a column of hashes.
func mayContainText(f reflect.StructField) bool {
	name, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
	if slices.Contains(HashColumns, name) {
		return false
	}
	k := f.Type.Kind()
	if k == reflect.Pointer {
		k = f.Type.Elem().Kind()
	}
	return k == reflect.String || k == reflect.Slice || k == reflect.Struct
}

// Redaction is the record in the manifest of how a corpus was redacted.
type Redaction struct {
	// Rules is the version of the rules. Hotkeys reports whether the accounts of agents were
	// redacted too.
	Rules   string `json:"rules"`
	Hotkeys bool   `json:"hotkeys"`
	// Counts are the numbers of placeholders by config or table, then by kind.
	Counts map[string]redact.Counts `json:"counts"`
}

func newRedaction(r *redact.Redactor, shards []placed) *Redaction {
	out := &Redaction{
		Rules:   redact.Rules,
		Hotkeys: r.Hotkeys(),
		Counts:  map[string]redact.Counts{},
	}
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

// section returns the section of the dataset card about the redaction, with the numbers of
// placeholders by config and kind. It returns "" if r is nil, for a corpus that was not
// redacted.
func (r *Redaction) section() string {
	if r == nil {
		return ""
	}
	accounts := ""
	if r.Hotkeys {
		accounts = ", and so did the accounts of agents"
	}
	return fmt.Sprintf("\n## Redaction\n\nSecrets, keys and phrases of wallets, e-mail, network and wallet addresses, telephone numbers (with a plus or a word that says so), names of home folders and numbers of cards and accounts (IBAN) became placeholders such as `[REDACTED:email]`%s. Rules: %s. No file holds a finding. Not looked for: names of people, postal addresses, numbers of passports, taxes and social security, hardware addresses, secrets in pictures or under ciphers.\n\n", accounts, r.Rules) +
		Table("config or table | placeholders by kind", slicesx.SortedKeys(r.Counts), func(name string) string {
			return name + " | " + cmp.Or(FormatCounts(r.Counts[name]), "none")
		})
}

// CheckSecrets returns an error if r finds a secret in the file at path in dir. A number that any
// row declares as an id is exempt in the entire file.
func CheckSecrets(fs FS, dir, path string, r *redact.Redactor) error {
	if VisitTexts(fs, dir, path, r.Left) == nil {
		return nil
	}
	ids := redact.IDs{}
	err := VisitTexts(fs, dir, path, func(_, text string) error {
		ids.Add(text)
		return nil
	})
	if err != nil {
		return err
	}
	return VisitTexts(fs, dir, path, r.Sparing(ids).Left)
}
