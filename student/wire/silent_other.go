//go:build !unix

package wire

import "net"

// silent keeps no connection where the system cannot be asked about it.
func silent(net.Conn) bool { return false }
