//go:build unix

package wire

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// silent reports whether there is nothing to read: neither bytes nor the end. A
// connection that is none of the system's cannot be asked.
func silent(c net.Conn) bool {
	own, ok := c.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := own.SyscallConn()
	if err != nil {
		return false
	}
	var ready int
	var asked error
	err = raw.Control(func(fd uintptr) {
		ready, asked = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0) //nolint:gosec // descriptors are small
	})
	return err == nil && asked == nil && ready == 0
}
