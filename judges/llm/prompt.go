package llm

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the prompt is part of the program
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/trajectory-arena/arena/judges/client"
)

//go:embed prompts/reasoning.tmpl
var reasoning []byte

// answerSchema is the reply asked of servers that can be held to one. The
// evidence comes first: a model that has to quote before it grades grades what
// it found.
var answerSchema = json.RawMessage(`{
	"type": "object",
	"additionalProperties": false,
	"required": ["evidence", "reasoning_quality", "explanation"],
	"properties": {
		"evidence": {"type": "array", "items": {
			"type": "object",
			"additionalProperties": false,
			"required": ["gate", "step", "quote"],
			"properties": {"gate": {"type": "integer"}, "step": {"type": "integer"}, "quote": {"type": "string"}}
		}},
		"reasoning_quality": {"type": "number", "enum": [0.1, 0.3, 0.5, 0.7, 0.9]},
		"explanation": {"type": "string"}
	}
}`)

// prompt is the judge's instructions: a template file that defines "system"
// and "user", named by its hash.
type prompt struct {
	sha256 string
	text   *template.Template
}

// readPrompt reads the template at path, the embedded one where path is empty,
// and tries it.
func readPrompt(path string) (prompt, error) {
	source := reasoning
	if path != "" {
		b, err := os.ReadFile(path)
		if err != nil {
			return prompt{}, fmt.Errorf("read prompt: %w", err)
		}
		source = b
	}
	t, err := template.New("prompt").Option("missingkey=error").Parse(string(source))
	if err != nil {
		return prompt{}, fmt.Errorf("read prompt %s: %w", path, err)
	}
	sum := sha256.Sum256(source)
	p := prompt{sha256: hex.EncodeToString(sum[:]), text: t}
	const probe = "the trajectory goes here"
	messages, err := p.messages(probe)
	if err == nil && !strings.Contains(messages[1].Content, probe) {
		err = errors.New(`"user" leaves out {{.Trace}}`)
	}
	if err != nil {
		return prompt{}, fmt.Errorf("try prompt %s: %w", path, err)
	}
	return p, nil
}

// messages puts a rendered trace into the prompt.
func (p prompt) messages(trace string) ([]client.Message, error) {
	data := struct{ Fence, Trace string }{p.fence(trace), trace}
	var out []client.Message
	for _, role := range []string{"system", "user"} {
		var text bytes.Buffer
		if err := p.text.ExecuteTemplate(&text, role, data); err != nil {
			return nil, fmt.Errorf("render prompt: %w", err)
		}
		out = append(out, client.Message{Role: role, Content: text.String()})
	}
	return out, nil
}

// fence is the number on the delimiters: a hash over trace and prompt. A trace
// cannot hold the hash of itself, and the same trace gives the same one.
func (p prompt) fence(trace string) string {
	sum := sha256.Sum256([]byte(p.sha256 + "\n" + trace))
	return hex.EncodeToString(sum[:8])
}
