package llm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/template"

	"github.com/trajectory-arena/arena/judges/client"
)

// prompt is the judge's instructions: a template file that defines "system"
// and "user", named by its hash.
type prompt struct {
	sha256 string
	text   *template.Template
}

// readPrompt reads the template at path, the embedded one where path is empty,
// and tries it.
func readPrompt(path string, embedded []byte) (prompt, error) {
	source := embedded
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
	messages, err := p.messages(probe, 1)
	if err == nil && !strings.Contains(messages[1].Content, probe) {
		err = errors.New(`"user" leaves out {{.Trace}}`)
	}
	if err != nil {
		return prompt{}, fmt.Errorf("try prompt %s: %w", path, err)
	}
	return p, nil
}

// messages puts a rendered trace of so many steps into the prompt.
func (p prompt) messages(trace string, steps int) ([]client.Message, error) {
	data := struct {
		Fence, Trace string
		Steps        int
	}{p.fence(trace), trace, steps}
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
