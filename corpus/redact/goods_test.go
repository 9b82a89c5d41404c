package redact_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/trajectory-arena/arena/corpus/redact"
	"github.com/trajectory-arena/arena/internal/longtest"
)

// shelf makes products in the manner of real ones: ids of 10 to 18 digits under
// their keys, prices, titles with sizes and models, options.
type shelf struct{ random *rand.Rand }

func (s *shelf) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + s.random.IntN(10))
	}
	b[0] = byte('1' + s.random.IntN(9))
	return string(b)
}

func (s *shelf) word() string {
	words := []string{"Cotton", "Towel", "iPhone 14+", "64GB+4GB", "Sony", "Men", "Women", "Summer", "Wireless", "Bluetooth", "5.3", "USB-C", "SKU", "XL", "18*2.9*2.9 cm",
		"100%", "2-pack", "AC/DC", "12V", "Phone", "Mobile Stand", "Key", "Token", "Cookie", "Basic Tee", "Home/Kitchen", "A&B", "No.1", "+10", "3.5mm", "Galaxy S24+"}
	if s.random.IntN(4) == 0 {
		return fmt.Sprintf("%c%c-%d%c", 'A'+s.random.IntN(26), 'A'+s.random.IntN(26), s.random.IntN(100000), 'A'+s.random.IntN(26))
	}
	return words[s.random.IntN(len(words))]
}

func (s *shelf) title() string {
	out := s.word()
	for range 3 + s.random.IntN(10) {
		out += " " + s.word()
	}
	return out
}

// row is one product with eight values: two ids, a price, a title, a size, two
// options and a list of ids.
func (s *shelf) row() string {
	b, _ := json.Marshal(map[string]any{
		"product_id": s.digits(10 + s.random.IntN(9)), "shop_id": s.digits(10 + s.random.IntN(9)), "title": s.title(),
		"price": float64(s.random.IntN(1e7)) / 100, "size": fmt.Sprintf("%d x %d x %.1f cm", s.random.IntN(300), s.random.IntN(300), 30*s.random.Float64()),
		"sku_options":         map[string]any{s.digits(12 + s.random.IntN(6)): map[string]string{"color": s.word(), "size": s.word()}},
		"similar_product_ids": []string{s.digits(16), s.digits(15)},
	})
	return string(b)
}

// TestGoodsStay checks that redaction changes at most ten of a million ids, prices, titles and
// sizes, as plain text and as the text of a page together.
func TestGoodsStay(t *testing.T) {
	t.Parallel()
	const values = 8
	s := &shelf{rand.New(rand.NewPCG(5, 6))}
	rows := longtest.Pick(1_000_000, 10_000) / values
	r := redact.New(redact.Options{})
	changed := 0
	for range rows {
		row := s.row()
		for _, text := range []string{row, html.EscapeString(row)} {
			if got := r.Text(text, redact.Counts{}); got != text {
				if changed++; changed <= 5 {
					t.Logf("%s\nbecame\n%s", text, got)
				}
			}
		}
	}
	t.Logf("%d rows of %d values: %d changed", rows, values, changed)
	if changed >= 10*rows*values/1_000_000+1 {
		t.Errorf("%d of %d rows changed", changed, rows)
	}
}

// TestRealGoodsStay checks real products, each with an id as long as the number of a credit card
// and some with addresses of merchants: redaction leaves them unchanged.
func TestRealGoodsStay(t *testing.T) {
	t.Parallel()
	f, err := os.Open(longtest.Shared(t, "data/real/shoppingbench-products/products.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := redact.New(redact.Options{})
	counts := redact.Counts{}
	rows := 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for ; lines.Scan(); rows++ {
		if got := r.Text(lines.Text(), counts); got != lines.Text() {
			t.Errorf("%v: %.2000s", counts, got)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if rows == 0 {
		t.Errorf("%d rows", rows)
	}
}
