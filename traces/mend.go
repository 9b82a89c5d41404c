package traces

import (
	"bytes"
	"unicode/utf8"
)

// The words for what is mended in a record before it can be read. The first
// three are also vetoes: the text is no longer what its source wrote, so it is
// scored and counted but may not enter a corpus.
const (
	repairUTF8      = "invalid_utf8"
	repairSurrogate = "lone_surrogate"
	repairNUL       = "nul_bytes"
	repairID        = "id_number"
	repairDialogue  = "dialogue_wrong_type"
)

// mend makes text valid UTF-8 without NUL bytes and names what it did. NUL
// bytes go: a killed sandbox leaves them, and the subnet's own reader drops
// them. Each byte that is not UTF-8 becomes U+FFFD, as in encoding/json.
func mend(text []byte) (mended []byte, repairs []string) {
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, nil)
		repairs = append(repairs, repairNUL)
	}
	if !utf8.Valid(text) {
		text = []byte(string([]rune(string(text))))
		repairs = append(repairs, repairUTF8)
	}
	return text, repairs
}
