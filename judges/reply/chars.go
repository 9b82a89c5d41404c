package reply

import (
	"encoding/json"
	"strings"
)

func isHex(s string) bool {
	return strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

func isWord(c byte) bool {
	return c == '-' || c == '+' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isLiteral(word string) bool {
	return json.Valid([]byte(word))
}
