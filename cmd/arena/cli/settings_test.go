package cli

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/strictyaml"
	"github.com/trajectory-arena/arena/pipeline"
)

var update = flag.Bool("update", false, "write the pages anew")

// configurationHead is the beginning of the page; the table after it is generated from the code.
const configurationHead = `# The configuration of a build

This page is written from the code by ` + "`go test ./cmd/arena/cli -run ConfigurationPage -update`" + `.

` + "`arena build`, `stage`, `filter` and `recipe` take these keys from a YAML file (`--config FILE`) and one by one from `--set key=value`" + `.
A key of ` + "`--set`" + ` overrides the file, and other flags override both. An unknown key is an error, and the message names the nearest known key. The manifest of a
corpus contains the configuration as JSON, which ` + "`--config`" + ` accepts too. The judge, the step judge and the embeddings of titles are chosen by flags, not by keys;
the manifest records them under ` + "`instruments`" + `. The models of ` + "`--judge llm`" + ` have their own configuration:
[judges-llm.md](judges-llm.md).

The column *reach* shows what a second build repeats after a change of the key. With ` + "`block`" + ` the build repeats everything: reading, filter, scores, judge and guard. With
` + "`guard`" + ` the build repeats the guard on stored rows, ranking and writing. With ` + "`corpus`" + ` the build repeats only ranking and writing, and judges no attempt again. With ` + "`none`" + ` the build repeats nothing.

| key | default | reach | meaning |
|---|---|---|---|
`

// TestConfigurationPageListsEveryKey holds docs/configuration.md to the fields
// of the configuration: key, default, reach and comment.
func TestConfigurationPageListsEveryKey(t *testing.T) {
	t.Parallel()
	const path = "../../../docs/configuration.md"
	var page strings.Builder
	page.WriteString(configurationHead)
	rows(t, &page, reflect.ValueOf(pipeline.Defaults()), "", "")
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != page.String() {
		t.Errorf("docs/configuration.md differs from the code (%v): run this test with -update", err)
	}
}

// fieldKeys replaces the names of fields in comments by the keys that users write.
var fieldKeys = strings.NewReplacer(
	"LineBytes", "`reading.line_bytes`", "ProbeEvery", "N", "DroppedEvery", "N",
	"set Mistakes", "set this key", "the factor by Multiplier", "the factor by the keys `multiplier`",
)

// rows writes a row of the page for every key of a struct.
func rows(t *testing.T, page *strings.Builder, v reflect.Value, prefix, reach string) {
	t.Helper()
	comments := fieldComments(t, v.Type())
	for i := range v.NumField() {
		f := v.Type().Field(i)
		tag := f.Tag.Get("yaml")
		if tag == "" {
			tag = f.Tag.Get("json")
		}
		if tag == "" {
			tag = strings.ToLower(f.Name)
		}
		name, option, _ := strings.Cut(tag, ",")
		reaches := cmp.Or(f.Tag.Get("hash"), reach)
		if f.Type.Kind() == reflect.Struct {
			if option != "inline" {
				name = prefix + name + "."
			} else {
				name = prefix
			}
			rows(t, page, v.Field(i), name, reaches)
			continue
		}
		if comments[f.Name] == "" {
			t.Errorf("%s has no comment: want one that describes its effect", prefix+name)
		}
		value := fmt.Sprint(v.Field(i))
		if value != "" {
			value = "`" + value + "` "
		}
		fmt.Fprintf(page, "| `%s` | %s| %s | %s |\n", prefix+name, value, reaches, fieldKeys.Replace(comments[f.Name]))
	}
}

// fieldComments returns the comments of a struct's fields without the leading name and the verb
// "is" or "are".
func fieldComments(t *testing.T, structType reflect.Type) map[string]string {
	t.Helper()
	comments := map[string]string{}
	files, err := filepath.Glob("../../../" + strings.TrimPrefix(structType.PkgPath(), "github.com/trajectory-arena/arena/") + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != structType.Name() {
				return true
			}
			for _, f := range spec.Type.(*ast.StructType).Fields.List {
				for _, name := range f.Names {
					text := strings.Join(strings.Fields(f.Doc.Text()), " ")
					text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(text, name.Name+" "), "is "), "are ")
					comments[name.Name] = strings.TrimSuffix(text, ".")
				}
			}
			return false
		})
	}
	return comments
}

// TestConfigurationOfAManifestIsAConfiguration checks that the configuration in a corpus manifest
// can be read as the configuration of the next run.
func TestConfigurationOfAManifestIsAConfiguration(t *testing.T) {
	t.Parallel()
	config := pipeline.Defaults()
	config.Select.Top = 7
	config.Reading.LineBytes = 1 << 20
	config.Guard.Shares.Eval = 0.25
	read := pipeline.Defaults()
	if err := strictyaml.Decode(config.JSON(), &read); err != nil || !reflect.DeepEqual(read, config) {
		t.Errorf("read %+v, %v, want %+v", read, err, config)
	}
}
