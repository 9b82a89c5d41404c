package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// served starts the shop and returns its address.
func served(t *testing.T, catalog string) string {
	t.Helper()
	c := exec.Command(program(t), "shop", "serve", "--catalog", catalog, "--listen", "127.0.0.1:0")
	words, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Signal(os.Interrupt) // the process may have exited
		_ = c.Wait()
	})
	line, err := bufio.NewReader(words).ReadString('\n')
	for word := range strings.FieldsSeq(line) {
		if strings.HasPrefix(word, "http://") {
			return word
		}
	}
	t.Fatalf("no address in %q, %v", line, err)
	return ""
}

// TestTheShopAnswersHereAndNoBook checks that a query with one product id twenty thousand times has
// no answer of megabytes, and that a page of another site is refused.
func TestTheShopAnswersHereAndNoBook(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it is a process that does one thing at a time")
	}
	t.Parallel()
	shop := served(t, filepath.Join(testDay, "catalog.jsonl"))
	ask := func(query, host string) (status, size int) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, shop+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		if host != "" {
			r.Host = host
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		n, err := io.Copy(io.Discard, res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, int(n)
	}
	const id = "2131798420"
	if status, size := ask("/view_product_information?product_ids="+strings.Repeat(id+",", 20_000), ""); status != http.StatusRequestURITooLong || size > 1<<20 {
		t.Errorf("status %d with %d bytes", status, size)
	}
	if status, _ := ask("/health", "shop.example"); status != http.StatusForbidden {
		t.Errorf("under another name: status %d", status)
	}
}
