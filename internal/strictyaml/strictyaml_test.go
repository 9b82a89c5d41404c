package strictyaml_test

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/internal/strictyaml"
)

type config struct {
	Top   int `yaml:"top"`
	Guard struct {
		Seed int `yaml:"seed"`
	} `yaml:"guard"`
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
