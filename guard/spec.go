package guard

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	arena "github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
)

// SpecHash identifies a problem across days and files: the hex sha256 over what
// it is graded by (products, titles, options, prices, services in a fixed
// order), or over its normalised request where it has no reward.
func SpecHash(p arena.Problem) string {
	var parts []string
	for _, r := range p.Rewards {
		parts = append(parts, rewardKey(r))
	}
	slices.Sort(parts)
	if len(parts) == 0 {
		parts = []string{"query", normalised(p.Query)}
	}
	return hashStrings(parts)
}

func rewardKey(r arena.Reward) string {
	lines := []string{"id " + r.ProductID}
	for _, t := range r.Titles {
		lines = append(lines, "title "+t)
	}
	for _, o := range r.Attributes {
		lines = append(lines, "attribute "+o.Key+"="+o.Value)
	}
	for _, o := range r.SKUOptions {
		lines = append(lines, "sku "+o.Key+"="+o.Value)
	}
	for _, p := range r.Prices {
		lines = append(lines, "price "+p.Mode+" "+bound(p.Low)+" "+bound(p.High))
	}
	for _, s := range r.Services {
		lines = append(lines, "service "+s)
	}
	slices.Sort(lines[1:])
	return hashStrings(lines)
}

func bound(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%g", *v)
}

// hashStrings hashes parts as a JSON array, so that no two lists of parts can
// be mistaken for each other.
func hashStrings(parts []string) string {
	b, err := json.Marshal(parts)
	if err != nil {
		b = []byte(strings.Join(parts, "\x00"))
	}
	return digest.SHA256(b)
}
