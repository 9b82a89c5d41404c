package block_test

import (
	"testing"

	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// TestEqualRequestsAreOne checks that attempts under two problem IDs are compared as attempts at one
// request if their requests are equal, but not if they have none.
func TestEqualRequestsAreOne(t *testing.T) {
	t.Parallel()
	head := func(id, request string) *block.Head {
		h := &block.Head{Query: digest.SHA256([]byte(request))}
		h.ProblemID = id
		return h
	}
	if head("a", "a lamp").Request() != head("b", "a lamp").Request() {
		t.Error("equal requests differ")
	}
	if head("a", "").Request() == head("b", "").Request() || head("a", "a lamp").Request() == head("a", "a desk").Request() {
		t.Error("different tasks are one")
	}
}
