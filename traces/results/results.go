// Package results reads the files in which evaluators keep the outcomes of attempts beside their
// traces: the folders of Harbor's trials, and the reports of SWE-bench.
package results

import (
	"bytes"
	"io/fs"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// Result is what an evaluator recorded of one attempt. Unknown fields are empty.
type Result struct {
	// RunID, Trial and ProblemID identify the attempt.
	RunID, Trial, ProblemID string
	// Agent is the name of the agent with its version, and Model that of its model.
	Agent, Model string
	// Reward is nil if the evaluator gave none, or says that it does not count.
	Reward *float64
	// Error is the error that the attempt or its evaluation ended with.
	Error *arena.AttemptError
	// Lost are the codes of what the evaluator recorded and a trace has no field for.
	Lost []string
}

// maxBytes is the maximum size of an evaluator's file in bytes. A result of Harbor may hold the ids
// of all tokens of its attempt.
const maxBytes = 64 << 20

// limits bounds the nesting, strings and lists in the JSON of an evaluator's file.
var limits = cursor.Limits{Depth: 512, StringBytes: 32 << 20, Elements: 200_000}

// readObject returns the JSON object in a file and the bytes of the file. The object does not exist
// if the file cannot be read, is too long, or is no JSON object.
func readObject(fsys fs.FS, name string) (object gjson.Result, text []byte) {
	text = readFile(fsys, name)
	c := cursor.New(string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), limits)
	object = gjson.Parse(string(c.Raw()))
	if c.End() != nil || !object.IsObject() {
		return gjson.Result{}, text
	}
	return object, text
}

// unread is the start of the code for a file of an evaluator that is there but cannot be read, is too
// long, or is not in its format.
const unread = "unread:"

func isFile(fsys fs.FS, name string) bool {
	info, err := fs.Stat(fsys, name)
	return err == nil && info.Mode().IsRegular()
}

// readFile returns the content of a file, nil if it cannot be read or is too long.
func readFile(fsys fs.FS, name string) []byte {
	f, err := fsys.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	content, err := plaintext.ReadAll(f, maxBytes)
	if err != nil {
		return nil
	}
	return content
}
