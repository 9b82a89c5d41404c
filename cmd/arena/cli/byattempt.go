package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"

	"github.com/trajectory-arena/arena"
)

// maxAttemptLine bounds a line that speaks of one attempt: scores with their
// rewards are a few thousand bytes, judge lines quote some hundred characters each.
const maxAttemptLine = 16 << 20

// ReadByAttempt reads JSON lines that each speak of one attempt into what they
// say, by the attempt's id. The hint says where such a file comes from.
func ReadByAttempt[T any](path, hint string) (map[string]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Failed(err, hint)
	}
	defer f.Close() //nolint:errcheck // only read
	said := map[string]T{}
	for line, err := range arena.Lines(f, maxAttemptLine) {
		if err != nil {
			return nil, Failed(fmt.Errorf("read %s: %w", path, err), hint)
		}
		var id struct {
			Run     string `json:"eval_run_id"`
			Problem string `json:"problem_id"`
		}
		var saying T
		if err := cmp.Or(json.Unmarshal(line.Text, &id), json.Unmarshal(line.Text, &saying)); err != nil {
			return nil, Failed(fmt.Errorf("read %s: line %d: %w", path, line.Number, err), hint)
		}
		said[id.Run+"/"+id.Problem] = saying
	}
	return said, nil
}
