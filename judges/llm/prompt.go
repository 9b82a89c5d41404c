package llm

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/model"
)

// prompt is the judge's instructions: a template file that defines "system"
// and "user", named by its hash.
type prompt struct {
	sha256       string
	system, user []piece
}

// piece is a text that stands in a prompt as it is, or a field that is put in.
type piece struct{ text, field string }

// The fields of a prompt, as they are written in it.
const (
	fenceField = "{{.Fence}}"
	traceField = "{{.Trace}}"
	stepsField = "{{.Steps}}"
)

// readPrompt reads the template at path, the embedded one where path is empty.
func readPrompt(path string, embedded []byte) (prompt, error) {
	source := embedded
	if path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return prompt{}, fmt.Errorf("read prompt: %w", err)
		}
		source = b
	}
	p, err := parsePrompt(string(source))
	if err != nil {
		return prompt{}, fmt.Errorf("read prompt %s: %w (a prompt holds text, comments, %s, %s and %s)", path, err, fenceField, traceField, stepsField)
	}
	return p, nil
}

// parsePrompt takes the parser of text/template without the rest of it, which
// calls methods by their names: with it the linker keeps every method of every
// type of the program.
func parsePrompt(source string) (prompt, error) {
	trees, err := parse.Parse("prompt", source, "", "")
	if err != nil {
		return prompt{}, err
	}
	p := prompt{sha256: digest.SHA256([]byte(source))}
	if p.system, err = pieces(trees, "system"); err != nil {
		return prompt{}, err
	}
	if p.user, err = pieces(trees, "user"); err != nil {
		return prompt{}, err
	}
	if !slices.Contains(p.user, piece{field: traceField}) {
		return prompt{}, fmt.Errorf(`"user" leaves out %s`, traceField)
	}
	return p, nil
}

// pieces are the texts and fields of one definition.
func pieces(trees map[string]*parse.Tree, name string) ([]piece, error) {
	tree := trees[name]
	if tree == nil {
		return nil, fmt.Errorf("%q is not defined", name)
	}
	var out []piece
	for _, n := range tree.Root.Nodes {
		text, is := n.(*parse.TextNode)
		switch {
		case is:
			out = append(out, piece{text: string(text.Text)})
		case slices.Contains([]string{fenceField, traceField, stepsField}, n.String()):
			out = append(out, piece{field: n.String()})
		default:
			place, what := tree.ErrorContext(n)
			return nil, fmt.Errorf("%s: %q holds %s", place, name, what)
		}
	}
	return out, nil
}

// messages puts a rendered trace of so many steps into the prompt.
func (p prompt) messages(trace string, steps int) []model.Message {
	fields := map[string]string{fenceField: p.fence(trace), traceField: trace, stepsField: strconv.Itoa(steps)}
	return []model.Message{{Role: "system", Content: filled(p.system, fields)}, {Role: "user", Content: filled(p.user, fields)}}
}

func filled(pieces []piece, fields map[string]string) string {
	var text strings.Builder
	for _, p := range pieces {
		text.WriteString(p.text)
		text.WriteString(fields[p.field])
	}
	return text.String()
}

// fence is the number on the delimiters: a hash over trace and prompt. A trace
// cannot hold the hash of itself, and the same trace gives the same one.
func (p prompt) fence(trace string) string {
	return digest.SHA256([]byte(p.sha256 + "\n" + trace))[:16]
}
