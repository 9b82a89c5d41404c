package export

import (
	"errors"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/corpus/rows"
)

// TestLineSinkNamesTheRowThatFails holds that a row of any config which cannot be encoded is named in
// the error.
func TestLineSinkNamesTheRowThatFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("tool definition 1 has no function")
	s := lineSink{job: &job{}, appendJSON: func([]byte, *row) ([]byte, error) { return nil, broken }}
	for name, r := range map[string]row{"sft": {sft: &rows.SFT{}}, "pref": {pref: &rows.Pref{}}, "kto": {kto: &rows.KTO{}}, "rl": {rl: &rows.RL{}}} {
		if err := s.add(&r); !errors.Is(err, broken) || !strings.Contains(err.Error(), "row 1") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestToolsWithoutParametersAreConverted converts definitions that have a name only.
func TestToolsWithoutParametersAreConverted(t *testing.T) {
	t.Parallel()
	got, err := responsesTool(`{"type":"function","function":{"name":"bare","description":null}}`)
	if want := `{"description":"","name":"bare","parameters":null,"strict":false,"type":"function"}`; err != nil || string(got) != want {
		t.Errorf("%s, %v, not %s", got, err, want)
	}
}
