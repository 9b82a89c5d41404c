// Package loopback finds addresses for the servers that tests start in
// processes of their own.
package loopback

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
)

var count atomic.Uint32

// Free returns an address of this machine at which no server listens. On Linux all of
// 127.0.0.0/8 belongs to the machine, and each address returned is of a host of its own, so
// that no server on a port of 127.0.0.1, of which tests start hundreds, can take it first.
func Free(t testing.TB) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		pid := os.Getpid()
		host = fmt.Sprintf(
			"127.%d.%d.%d",
			1+pid>>8%254,
			pid%256,
			1+count.Add(1)%254,
		)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // only its address is wanted
	return l.Addr().String()
}
