package llm

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
	"unicode"

	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/model"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// prompt holds the instructions for a model, from a template file that defines "system" and "user",
// with the hash of that file.
type prompt struct{ source, sha256, system, user string }

// withInstructions returns the prompt for attempts of a domain, with the domain's instructions in
// place of the fields for them. Its hash is that of a template file with these instructions.
func (p prompt) withInstructions(i domain.Instructions) prompt {
	fill := strings.NewReplacer(taskField, i.Task, rulesField, i.Rules)
	source := fill.Replace(p.source)
	return prompt{
		source: source,
		sha256: digest.SHA256([]byte(source)),
		system: fill.Replace(p.system),
		user:   p.user,
	}
}

// The placeholders of a prompt template: those that an attempt fills, and those that its domain
// fills, which may stand in the system message only.
const (
	fenceField = "{{.Fence}}"
	traceField = "{{.Trace}}"
	stepsField = "{{.Steps}}"
	taskField  = "{{.Task}}"
	rulesField = "{{.Rules}}"
)

// readPrompt reads the prompt template at path, or the embedded one if path is empty.
func readPrompt(path string, embedded []byte) (prompt, error) {
	source := embedded
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return prompt{}, fmt.Errorf("read prompt: %w", err)
		}
		source = text
	}
	p, err := parsePrompt(string(source))
	if err != nil {
		return prompt{}, fmt.Errorf("read prompt %s: %w (a prompt holds text, comments, %s, %s and %s, and its system message %s and %s)",
			path, err, fenceField, traceField, stepsField, taskField, rulesField)
	}
	return p, nil
}

// parsePrompt parses a prompt template with the parser of text/template. It does not execute it
// with text/template, which calls methods by name: the linker would then keep every method of every
// type of the program.
func parsePrompt(source string) (prompt, error) {
	trees, err := parse.Parse("prompt", source, "", "")
	if err != nil {
		return prompt{}, err
	}
	fields := []string{fenceField, traceField, stepsField}
	system, err := definition(trees, "system", append(fields, taskField, rulesField))
	if err != nil {
		return prompt{}, err
	}
	user, err := definition(trees, "user", fields)
	if err != nil {
		return prompt{}, err
	}
	if !strings.Contains(user, traceField) {
		return prompt{}, errors.New(`"user" leaves out ` + traceField)
	}
	return prompt{source, digest.SHA256([]byte(source)), system, user}, nil
}

// definition returns the text that a template defines under a name, without comments. It is an
// error if the text has placeholders other than fields.
func definition(trees map[string]*parse.Tree, name string, fields []string) (string, error) {
	tree := trees[name]
	if tree == nil {
		return "", fmt.Errorf("%q is not defined", name)
	}
	for _, n := range tree.Root.Nodes {
		if n.Type() != parse.NodeText && !slices.Contains(fields, n.String()) {
			location, context := tree.ErrorContext(n)
			return "", fmt.Errorf("%s: %q holds %s", location, name, context)
		}
	}
	return tree.Root.String(), nil
}

// messages returns the system message and the user message of the prompt. The placeholders in them
// are replaced by the rendered trace, its number of steps, and the text of the delimiters around
// the trace.
func (p prompt) messages(trace string, steps int) []model.Message {
	fill := strings.NewReplacer(
		fenceField,
		p.fence(trace),
		traceField,
		trace,
		stepsField,
		strconv.Itoa(steps),
	)
	return []model.Message{
		{Role: "system", Content: fill.Replace(p.system)},
		{Role: "user", Content: fill.Replace(p.user)},
	}
}

// fence returns the text that a prompt writes before and after a trace, to mark where the trace
// begins and ends: the first 16 hex digits of a hash over prompt and trace. No trace can contain
// its own hash, so the agent cannot write a false mark. Equal traces have equal marks.
func (p prompt) fence(trace string) string {
	return digest.SHA256([]byte(p.sha256 + "\n" + trace))[:16]
}

// Text of a trace must not look like the prompt's own text around it: otherwise an agent could
// write a fake tool result into its thinking. So long texts are quoted line by line with quoteMark,
// and any other text is one line. cutMark ends a text that was cut.
const (
	quoteMark = "  > "
	cutMark   = " …[cut]"
)

// toNewline replaces every character that a reader may take for the end of a line by "\n".
var toNewline = strings.NewReplacer(
	"\r\n",
	"\n",
	"\r",
	"\n",
	"\v",
	"\n",
	"\f",
	"\n",
	"\u0085",
	"\n",
	"\u2028",
	"\n",
	"\u2029",
	"\n",
)

// quoteLines returns s with quoteMark before each line.
func quoteLines(s string) string {
	return quoteMark + strings.ReplaceAll(toNewline.Replace(visible(s)), "\n", "\n"+quoteMark)
}

// visible returns s with every invisible character replaced by its code point, such as <U+200B>.
// Instructions can hide in such characters.
func visible(s string) string {
	if !strings.ContainsFunc(s, isInvisible) {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		if isInvisible(c) {
			fmt.Fprintf(&b, "<%U>", c)
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// isInvisible reports whether a reader cannot see a character. White space that ends a line or separates
// words is seen. U+2800 is the sign of Braille without dots.
func isInvisible(c rune) bool {
	isControl := unicode.IsControl(c) && !unicode.IsSpace(c)
	return isControl || c == '\u2800' || plaintext.Ignorable(c) || unicode.In(c, unicode.Cf, unicode.Co)
}

// firstLine returns the first n characters of s as one line, with blanks in place of line ends, and
// cutMark at the end if there are more.
func firstLine(s string, n int) string {
	return strings.ReplaceAll(toNewline.Replace(visible(cut(s, n))), "\n", " ")
}

// cut returns the first n characters of s, with cutMark at the end if there are more.
func cut(s string, n int) string {
	if c := plaintext.Clip(s, n); len(c) < len(s) {
		return c + cutMark
	}
	return s
}
