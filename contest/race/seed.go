package race

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cloudflare/circl/sign/bls"
)

// Constants of drand's quicknet, the public source of randomness for seeds, which publishes a
// signature every three seconds (unchained, in G1: bls-unchained-g1-rfc9380). quicknet is the
// hash of the chain. The key is in hex, the genesis in Unix seconds, the period in seconds.
const (
	quicknet        = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
	quicknetKey     = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
	quicknetGenesis = 1692803367
	quicknetPeriod  = 3
)

// checkTiming checks the round of the randomness service drand that a commitment names, and returns
// four findings, each OK, Wrong or Unknown. The round must be of the chain quicknet and have the
// recorded time, the secret must have been committed before it, and it must be the first round at
// least Offset seconds after closes, when qualifying closed. A finding is Unknown if what it needs is not
// recorded, the last one also if closes is nil.
func (c *Commitment) checkTiming(closes *time.Time) []Finding {
	roundTime := time.Unix(quicknetGenesis+int64(c.Round-1)*quicknetPeriod, 0).UTC() //nolint:gosec // a round beyond int64 is another time than any
	hasRound := c.Round > 0
	findings := []Finding{
		newFinding("chain", c.Chain == quicknet, "drand quicknet").ifKnown(c.Chain != ""),
		newFinding(
			"round_time",
			c.RoundTime.Equal(roundTime),
			fmt.Sprintf("round %d is of %s", c.Round, roundTime.Format(time.RFC3339)),
		).ifKnown(hasRound && !c.RoundTime.IsZero()),
		newFinding(
			"committed_before_beacon",
			c.Committed.Before(roundTime),
			"committed "+c.Committed.Format(time.RFC3339),
		).ifKnown(hasRound && !c.Committed.IsZero()),
	}
	if closes == nil {
		return append(findings, Finding{"round_by_rule", Unknown, "the race does not say when qualifying closed"})
	}
	earliest := closes.Add(time.Duration(c.Offset) * time.Second)
	previous := roundTime.Add(-quicknetPeriod * time.Second)
	isFirst := !roundTime.Before(earliest) && previous.Before(earliest)
	detail := "the first round at or after " + earliest.UTC().Format(time.RFC3339)
	return append(findings, newFinding("round_by_rule", isFirst, detail).ifKnown(hasRound))
}

// checkBeacon checks the public randomness from which the seed of the race is computed. The
// recorded signature must be that of drand's chain quicknet for the recorded round, and the
// recorded randomness must be the hash of the signature.
func (c *Commitment) checkBeacon() []Finding {
	if c.Signature == "" || c.Round == 0 {
		return []Finding{{"beacon", Unknown, "not recorded yet"}}
	}
	signature, err := hex.DecodeString(c.Signature)
	sum := sha256.Sum256(signature)
	return []Finding{
		newFinding(
			"beacon",
			err == nil && isSignedBy(quicknetKey, c.Round, signature),
			fmt.Sprintf("quicknet's signature for round %d", c.Round),
		),
		newFinding(
			"randomness",
			err == nil && strings.EqualFold(c.Randomness, hex.EncodeToString(sum[:])),
			"sha256 of the signature",
		).ifKnown(c.Randomness != ""),
	}
}

// isSignedBy reports whether signature is that of a chain of the randomness service drand for the
// round. key is the chain's public key in hex. The signatures of the chain must be unchained and in
// the group G1.
func isSignedBy(key string, round uint64, signature []byte) bool {
	text, err := hex.DecodeString(key)
	if err != nil {
		return false
	}
	var public bls.PublicKey[bls.KeyG2SigG1]
	if public.UnmarshalBinary(text) != nil {
		return false
	}
	message := sha256.Sum256(binary.BigEndian.AppendUint64(nil, round))
	return bls.Verify(&public, message[:], signature)
}

// encoding is a way to convert a published hex string to the bytes that are hashed. The subnet's
// docs do not define whether the text of the string or its value is hashed, so checks try both.
type encoding struct {
	name string
	// decode returns the bytes of s. It returns nil if the encoding needs hex and s is not hex.
	decode func(s string) []byte
}

var encodings = []encoding{
	{"raw bytes", func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			return nil
		}
		return b
	}},
	{"text", func(s string) []byte {
		return []byte(s)
	}},
}

// hasHash reports whether hash is the SHA-256 of b in hex.
func hasHash(b []byte, hash string) bool {
	sum := sha256.Sum256(b)
	return strings.EqualFold(hex.EncodeToString(sum[:]), hash)
}

// checkSecret checks the secret from which the seed of a race is computed: the SHA-256 of the
// revealed secret must be the hash that the subnet published before the race.
func (c *Commitment) checkSecret() Finding {
	if c.Secret == "" || c.SecretSHA256 == "" {
		return Finding{"secret", Unknown, "not revealed yet, or no hash of it is recorded"}
	}
	for _, e := range encodings {
		secret := e.decode(c.Secret)
		if secret != nil && hasHash(secret, c.SecretSHA256) {
			return Finding{"secret", OK, "its sha256 as " + e.name}
		}
	}
	return Finding{"secret", Wrong, "its sha256 is another, as raw bytes and as text"}
}

// checkSeed checks the seed from which the problems of the race are generated. It must be the
// SHA-256 of the subnet's secret followed by public randomness of the service drand, so that nobody
// can choose it.
func (c *Commitment) checkSeed() Finding {
	if c.WorldSeed == "" || c.Secret == "" || c.Randomness == "" {
		return Finding{"world_seed", Unknown, "not revealed yet, or no randomness is recorded"}
	}
	for _, s := range encodings {
		for _, r := range encodings {
			secret := s.decode(c.Secret)
			randomness := r.decode(c.Randomness)
			if secret != nil && randomness != nil && hasHash(slices.Concat(secret, randomness), c.WorldSeed) {
				return Finding{"world_seed", OK, fmt.Sprintf("sha256 of secret as %s and randomness as %s", s.name, r.name)}
			}
		}
	}
	return Finding{"world_seed", Wrong, "no sha256 of secret and randomness, as raw bytes or as text"}
}

// checkAttempts checks the list of seeds that were drawn for the race and rejected. They must be
// numbered from 0 without a gap, and each must have a reason, so that nobody can draw secretly
// until a seed suits.
func (c *Commitment) checkAttempts() Finding {
	if !c.Revealed {
		return Finding{"rejected_attempts", Unknown, "not revealed yet"}
	}
	for i, a := range c.Rejected {
		if a.Attempt != i || a.Reason == "" {
			return Finding{"rejected_attempts", Wrong, fmt.Sprintf("attempt %d stands at place %d, reason %.60q", a.Attempt, i, a.Reason)}
		}
	}
	return Finding{"rejected_attempts", OK, fmt.Sprintf("%d, each with its reason", len(c.Rejected))}
}
