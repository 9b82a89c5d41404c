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
		address := loopback.Free(t)
		l, err := net.Listen("tcp", address)
		if err != nil || seen[address] {
			t.Fatalf("%s: given before %v, %v", address, seen[address], err)
		}
		seen[address] = true
		t.Cleanup(func() { _ = l.Close() })
	}
}
