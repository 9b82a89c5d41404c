package cli

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/pipeline"
)

// TestConfigurationPageListsEveryKey: the page is the only place where a user
// can find what --set takes, so it names every key with its default and no
// other.
func TestConfigurationPageListsEveryKey(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if key, rest, found := strings.Cut(line, "` | "); found && strings.HasPrefix(key, "| `") {
			value, _, _ := strings.Cut(rest, "|")
			listed[strings.TrimPrefix(key, "| `")] = strings.Trim(value, "` ")
		}
	}
	for _, key := range keys(reflect.TypeFor[pipeline.Config](), "") {
		value, known := listed[key]
		if !known {
			t.Errorf("%s is not on the page", key)
			continue
		}
		delete(listed, key)
		config := pipeline.Defaults()
		if value != "" {
			if err := decodeStrict(nested(key, value), &config); err != nil {
				t.Errorf("%s: %v", key, err)
			}
		}
		if config != pipeline.Defaults() {
			t.Errorf("%s is %q on the page, which is not the default", key, value)
		}
	}
	for key := range listed {
		t.Errorf("the page lists %s, which is no key", key)
	}
}

// TestConfigurationOfAManifestIsAConfiguration: what a corpus says it was made
// with can be given to the next run.
func TestConfigurationOfAManifestIsAConfiguration(t *testing.T) {
	t.Parallel()
	config := pipeline.Defaults()
	config.Select.Top, config.Reading.LineBytes, config.Guard.Shares.Eval = 7, 1<<20, 0.25
	b, err := config.JSON()
	if err != nil {
		t.Fatal(err)
	}
	read := pipeline.Defaults()
	if err := decodeStrict(b, &read); err != nil || read != config {
		t.Errorf("read %+v, %v, want %+v", read, err, config)
	}
}
