package columns

import (
	"bytes"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// FuzzDamagedParquetIsReadOrRefused writes over a table of messages, footer and pages.
func FuzzDamagedParquetIsReadOrRefused(f *testing.F) {
	type message struct {
		Role string  `parquet:"role,dict"`
		Text *string `parquet:"text,optional"`
	}
	type row struct {
		ID       string             `parquet:"id"`
		Messages []message          `parquet:"messages,list"`
		Scores   map[string]float64 `parquet:"scores"`
	}
	text := "Hello."
	var out bytes.Buffer
	if err := parquet.Write(&out, []row{{"a", []message{{"user", &text}, {"assistant", nil}}, map[string]float64{"x": 1}}, {"b", nil, nil}}); err != nil {
		f.Fatal(err)
	}
	full := out.String()
	for i := range 16 {
		f.Add(len(full)*i/16, []byte{0xff, 0xff, 0xff, 0x7f})
	}
	f.Fuzz(func(t *testing.T, offset int, damage []byte) {
		content := []byte(full)
		if offset >= 0 && offset < len(content) {
			copy(content[offset:], damage)
		}
		if allocated := takenBy(func() { _, _ = texts(string(content)) }); allocated > maxTaken {
			t.Errorf("%d bytes are taken", allocated)
		}
	})
}
