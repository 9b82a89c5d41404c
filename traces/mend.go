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

// mendUTF8 turns each byte that is not UTF-8 into U+FFFD, as encoding/json does.
func mendUTF8(text []byte) []byte {
	mended := make([]byte, 0, len(text)+len(text)/8)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		mended = utf8.AppendRune(mended, r)
		text = text[n:]
	}
	return mended
}

// cutNUL leaves out NUL bytes: a killed sandbox writes them in the middle of a
// line, and the subnet's own reader drops them. JSON allows none.
func cutNUL(text []byte) []byte { return bytes.ReplaceAll(text, []byte{0}, nil) }
