// Package loopback finds addresses for servers that tests start in separate processes.
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

// Free returns a local address at which no server listens. On Linux all of 127.0.0.0/8 is local,
// and each returned address has a different host, so that it cannot collide with one of the many
// test servers on 127.0.0.1.
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
