package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
)

const trainedOnUsage = "file of problems that the model was trained on, reported separately: ids, one a line, or what arena leak wrote of its training data"

// readTrainedOn reads the ids of the problems that a model was trained on. path is a file with one
// id a line, or the output of `arena leak`: each training row in which it found problems kept for
// evaluation is a line with their ids. It returns nil for an empty path.
func readTrainedOn(path string) (map[string]bool, error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, cli.Failed(fmt.Errorf("read problem ids: %w", err), "--trained-on names a text file, one id a line")
	}
	ids := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		names := []string{strings.TrimSpace(line)}
		if strings.HasPrefix(names[0], "{") {
			if names, err = leakedProblems(names[0]); err != nil {
				return nil, cli.Failed(fmt.Errorf("read problem ids: %w", err), "--trained-on takes ids or the lines of `arena leak`")
			}
		}
		for _, id := range names {
			ids[id] = true
		}
	}
	delete(ids, "")
	return ids, nil
}

// leakedProblems returns the ids of the problems kept for evaluation that a line of the output of
// `arena leak` names. There are none for a training row without such problems. Lines of earlier
// versions name one problem only.
func leakedProblems(line string) ([]string, error) {
	var row struct {
		Match    string
		Drop     *bool
		Problems []string
	}
	switch err := json.Unmarshal([]byte(line), &row); {
	case err != nil:
		return nil, err
	case row.Drop == nil:
		return nil, errors.New("an object without the key drop")
	case !*row.Drop:
		return nil, nil
	}
	return append(row.Problems, row.Match), nil
}

// checkTrainedOn returns an error if trainedOn, the ids of the problems that a model was trained
// on, has none of the evaluated problems. The ids are then likely those of other problems or in
// another format, and do not show that the evaluated ones were not trained on. A nil trainedOn is
// no error.
func checkTrainedOn(trainedOn map[string]bool, evaluated []string) error {
	isTrainedOn := func(id string) bool { return trainedOn[id] }
	if trainedOn == nil || slices.ContainsFunc(evaluated, isTrainedOn) {
		return nil
	}
	return cli.Usage(
		fmt.Errorf("--trained-on names %d problems, and none of the %d evaluated ones is among them", len(trainedOn), len(evaluated)),
		"search the training data with `arena leak --held-out` and the file of these problems; if no row is dropped, all of them are clean: leave --trained-on out",
	)
}
