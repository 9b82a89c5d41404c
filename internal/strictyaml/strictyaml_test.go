package strictyaml_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trajectory-arena/arena/internal/strictyaml"
)

type config struct {
	Top   int     `yaml:"top"`
	Share float64 `yaml:"share"`
	Tools map[string]struct {
		Most *int `yaml:"most"`
	} `yaml:"tools"`
	Panel  []Limits `yaml:"panel"`
	Limits `yaml:",inline"`
	Guard  struct {
		Seed int `yaml:"seed"`
	} `yaml:"guard"`
}

type Limits struct {
	Wait time.Duration `yaml:"wait"`
	File uint64        `yaml:"file"`
}

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, message, nearest string }{
		{"top: 3", "", ""},
		{"", "", ""},
		{"topp: 3", `unknown field "topp"`, "top"},
		{"guard: {sed: 1}", `unknown field "sed"`, "guard.seed"},
		{"top: many", `[1:6] "many" is no whole number`, ""},
		{"top: [", "sequence end token ']' not found", ""},
		{"top: 2.0\nshare: 0.5\nfile: 1e3\nwait: 1.5s", "", ""},
		{"top: 1.5", "top is 1.5: want a whole number", ""},
		{"top: '1.5'", "top is 1.5: want a whole number", ""},
		{"top: -.inf", "top is -Inf: want a whole number", ""},
		{"guard: {seed: 0.9}", "guard.seed is 0.9: want a whole number", ""},
		{"tools: {buy: {most: 2.5}}", "tools.buy.most is 2.5: want a whole number", ""},
		{"panel: [{file: 1}, {file: 0.5}]", "panel.file is 0.5: want a whole number", ""},
		{"file: 7.25", "file is 7.25: want a whole number", ""},
	} {
		var c config
		err := strictyaml.Decode([]byte(test.text), &c)
		message := ""
		if err != nil {
			message = err.Error()
		}
		if (test.message == "") != (err == nil) || !strings.Contains(message, test.message) {
			t.Errorf("%q: error %q, want %q", test.text, message, test.message)
		}
		if nearest := strictyaml.Nearest(err, "", &c); nearest != test.nearest {
			t.Errorf("%q: nearest key %q, want %q", test.text, nearest, test.nearest)
		}
	}
}

// TestDecodeQuotesLittle decodes a file that is no configuration: the message does not repeat its
// content.
func TestDecodeQuotesLittle(t *testing.T) {
	t.Parallel()
	line := `{"messages": "` + strings.Repeat("ä long trace ", 5000) + `"}`
	err := strictyaml.Decode([]byte(line+"\n"+line+"\n"), &config{})
	if err == nil {
		t.Fatal("no error")
	}
	if n := len(err.Error()); n > 2000 {
		t.Errorf("a message of %d bytes", n)
	}
}
