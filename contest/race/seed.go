package race

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/cloudflare/circl/sign/bls"
)

// The chain that seeds are drawn from: drand's quicknet, unchained signatures in G1
// (bls-unchained-g1-rfc9380), a round every three seconds.
const (
	quicknet        = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"
	quicknetKey     = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"
	quicknetGenesis = 1692803367
	quicknetPeriod  = 3
)

// timing: the secret was committed to before the beacon could be known, and the
// round is the one that the rule names.
func (c *Commitment) timing(closes *time.Time) []Finding {
	at := time.Unix(quicknetGenesis+int64(c.Round-1)*quicknetPeriod, 0).UTC() //nolint:gosec // a round beyond int64 is another time than any
	all := []Finding{
		found("chain", c.Chain == quicknet, "drand quicknet"),
		found("round_time", c.RoundTime.Equal(at), fmt.Sprintf("round %d is of %s", c.Round, at.Format(time.RFC3339))),
		found("committed_before_beacon", c.Committed.Before(at), "committed "+c.Committed.Format(time.RFC3339)),
	}
	if closes == nil {
		return append(all, Finding{"round_by_rule", Unknown, "the race does not say when qualifying closed"})
	}
	from := closes.Add(time.Duration(c.Offset) * time.Second)
	first := !at.Before(from) && at.Add(-quicknetPeriod*time.Second).Before(from)
	return append(all, found("round_by_rule", first, "the first round at or after "+from.UTC().Format(time.RFC3339)))
}

// beacon: the signature is quicknet's for the round, and the randomness its hash.
func (c *Commitment) beacon() []Finding {
	if c.Signature == "" {
		return []Finding{{"beacon", Unknown, "not recorded yet"}}
	}
	signature, err := hex.DecodeString(c.Signature)
	sum := sha256.Sum256(signature)
	return []Finding{
		found("beacon", err == nil && signedBy(quicknetKey, c.Round, signature), fmt.Sprintf("quicknet's signature for round %d", c.Round)),
		found("randomness", err == nil && strings.EqualFold(c.Randomness, hex.EncodeToString(sum[:])), "sha256 of the signature"),
	}
}

// signedBy reports whether the signature is that of an unchained G1 beacon for the round.
func signedBy(key string, round uint64, signature []byte) bool {
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

// form is one way to take a published word as bytes: the docs do not say whether
// words are hashed as the hex that they are written in or as what this means.
type form struct {
	name string
	of   func(word string) []byte
}

var forms = []form{
	{"raw bytes", func(word string) []byte {
		b, err := hex.DecodeString(word)
		if err != nil {
			return nil
		}
		return b
	}},
	{"text", func(word string) []byte { return []byte(word) }},
}

// secret: the revealed secret is the one that was committed to.
func (c *Commitment) secret() Finding {
	if c.Secret == "" {
		return Finding{"secret", Unknown, "not revealed yet"}
	}
	for _, f := range forms {
		sum := sha256.Sum256(f.of(c.Secret))
		if b := f.of(c.Secret); b != nil && strings.EqualFold(hex.EncodeToString(sum[:]), c.SecretSHA256) {
			return Finding{"secret", OK, "its sha256 as " + f.name}
		}
	}
	return Finding{"secret", Wrong, "its sha256 is another, as raw bytes and as text"}
}

// seed: the world's seed follows from secret and beacon.
func (c *Commitment) seed() Finding {
	if c.WorldSeed == "" || c.Secret == "" {
		return Finding{"world_seed", Unknown, "not revealed yet"}
	}
	for _, s := range forms {
		for _, r := range forms {
			secret, randomness := s.of(c.Secret), r.of(c.Randomness)
			sum := sha256.Sum256(append(append([]byte{}, secret...), randomness...))
			if secret != nil && randomness != nil && strings.EqualFold(hex.EncodeToString(sum[:]), c.WorldSeed) {
				return Finding{"world_seed", OK, fmt.Sprintf("sha256 of secret as %s and randomness as %s", s.name, r.name)}
			}
		}
	}
	return Finding{"world_seed", Wrong, "no sha256 of secret and randomness, as raw bytes or as text"}
}

// attempts: those that were rejected are told without a gap, each with its reason.
func (c *Commitment) attempts() Finding {
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
