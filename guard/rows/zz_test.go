package rows

import (
	"os"
	"runtime"
	"testing"
	"time"
)

func TestZZ(t *testing.T) {
	path := "/dev/shm/arrow_zz.bin"
	var m0, m1 runtime.MemStats
	for k, whole := range []string{arrowOf(t, sample, fileOf), arrowOf(t, sample, streamOf)} {
		t.Log(len(whole))
		for at := range len(whole) {
			for _, size := range []string{"\xff", "\x7f", "\x01", "\x40", "\xff\xff\xff\x7f", "\x00\x00\x00\x00\x00\x01", "\xff\xff\xff\xff\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\x00", "\x00\x00\x00\x00\x01\x00\x00\x00"} {
				b := []byte(whole)
				copy(b[at:], size)
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&m0)
				began := time.Now()
				_, _ = read(path)
				runtime.ReadMemStats(&m1)
				if a := (m1.TotalAlloc - m0.TotalAlloc) >> 20; a > 50 || time.Since(began) > time.Second {
					t.Logf("%d at %d %x: %d MB %v", k, at, size, a, time.Since(began))
				}
			}
		}
	}
}
