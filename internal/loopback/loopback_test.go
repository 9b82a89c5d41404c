package loopback_test

import (
	"net"
	"testing"

	"github.com/trajectory-arena/arena/internal/loopback"
)

func TestFreeAddressesAreFreeAndDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 300 {
		at := loopback.Free(t)
		l, err := net.Listen("tcp", at)
		if err != nil || seen[at] {
			t.Fatalf("%s: given before %v, %v", at, seen[at], err)
		}
		seen[at] = true
		t.Cleanup(func() { _ = l.Close() })
	}
}
