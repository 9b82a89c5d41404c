// Package digest computes hashes that identify content.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
)

// SHA256 returns the SHA-256 of b in lower-case hex.
func SHA256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
