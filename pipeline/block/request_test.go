package block_test

import (
	"testing"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// TestPassagesHaveRequestAndDay checks that passages of other requests differ, and have none if it
// is empty.
func TestPassagesHaveRequestAndDay(t *testing.T) {
	t.Parallel()
	request := func(text string) string {
		h := &block.Head{Query: digest.SHA256([]byte(text))}
		return h.DecidingPassage().Request
	}
	if request("a lamp") == request("a desk") || request("") != "" {
		t.Error("requests are confused")
	}
	date := int64(1780336799999) // 17:59:59.999 on 1 June
	dated := block.Head{}
	dated.RunDate = &date
	if day := dated.DecidingPassage().Day; day != "2026-06-01" {
		t.Errorf("day %q", day)
	}
}
