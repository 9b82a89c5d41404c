package arena

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/tidwall/gjson"
)

// ReadProblems reads a suite of problems: JSON lines, or one JSON array. It
// refuses a file without problems and names the line (the entry, of an array)
// it could not read or that is longer than limit bytes. The caller names the file.
func ReadProblems(r io.Reader, limit int) ([]Problem, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	array, err := startsArray(in)
	if err != nil {
		return nil, err
	}
	unit := "line"
	texts := Lines(in, limit)
	if array {
		unit = "entry"
		texts = entries(in, limit)
	}

	var problems []Problem
	for l, err := range texts {
		if err != nil {
			return nil, err
		}
		p, err := ParseProblem(l.Text)
		if err != nil {
			return nil, fmt.Errorf("%s %d: %w", unit, l.Number, err)
		}
		problems = append(problems, p)
	}
	if len(problems) == 0 {
		return nil, errors.New("the file holds no problem")
	}
	return problems, nil
}

// ErrCompressed is returned for a compressed file where an uncompressed one is read.
var ErrCompressed = errors.New("the file is compressed: unpack it first")

// Compressed reports whether a file that starts with head is gzip or zstd.
func Compressed(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x1f\x8b")) || bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd"))
}

// byteOrderMark is the mark that some editors write before UTF-8 text. It is not part of the text.
const byteOrderMark = "\uFEFF"

// startsArray reports whether the input is a JSON array, by its first character that is not white
// space. It skips a byte order mark. It returns an error if the input is empty or compressed.
func startsArray(in *bufio.Reader) (bool, error) {
	head, err := in.Peek(in.Size())
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return false, err
	case Compressed(head):
		return false, ErrCompressed
	case bytes.HasPrefix(head, []byte(byteOrderMark)):
		head = head[len(byteOrderMark):]
		_, _ = in.Discard(len(byteOrderMark)) // of what was peeked
	}
	head = bytes.TrimSpace(head)
	if len(head) == 0 && err != nil {
		return false, errors.New("the file is empty")
	}
	return len(head) > 0 && head[0] == '[', nil
}

// entries iterates over the entries of a JSON array, in the same form as Lines. Line.Number is the
// position of the entry, from 1. An entry that is longer than limit bytes or invalid, or text after
// the array, ends the iteration with an error.
func entries(in io.Reader, limit int) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		d := json.NewDecoder(in)
		n := 0
		_, _ = d.Token() // the bracket that startsArray saw
		for d.More() {
			n++
			var text json.RawMessage
			err := d.Decode(&text)
			if err == nil && len(text) > limit {
				err = fmt.Errorf("longer than %d bytes", limit)
			}
			if err != nil {
				yield(Line{}, fmt.Errorf("entry %d: %w", n, err))
				return
			}
			if !yield(Line{Number: n, Text: text}, nil) {
				return
			}
		}
		if _, err := d.Token(); err != nil {
			yield(Line{}, fmt.Errorf("end of array after entry %d: %w", n, err))
		} else if _, more := d.Token(); !errors.Is(more, io.EOF) {
			yield(Line{}, fmt.Errorf("something stands behind the array of %d entries", n))
		}
	}
}

// ParseProblem reads one problem of a suite. It needs a problem_id or a query, which is its
// identity. A problem without a category is a voucher task if it has a voucher, a product task if
// its reward is one object, otherwise a shop task. An empty voucher object counts as no voucher, as
// in the subnet's code.
func ParseProblem(text []byte) (Problem, error) {
	doc, err := fieldsOf(text)
	if err != nil {
		return Problem{}, fmt.Errorf("parse problem: %w", err)
	}
	p := Problem{
		ID:           looseID(doc["problem_id"]),
		Query:        looseString(doc["query"]),
		Rewards:      parseRewards(doc["reward"]),
		Voucher:      parseVoucher(doc["voucher"]),
		TitleVectors: parseVectors(doc["reward_title_embeddings"]),
		Raw:          Raw(text),
	}
	p.ID = cmp.Or(p.ID, looseID(doc["id"]))
	if p.Key() == "" {
		return Problem{}, errors.New("parse problem: neither problem_id nor query")
	}
	p.Category = category(looseString(doc["category"]), p.Voucher, doc["reward"])
	return p, nil
}

func category(word string, voucher *Voucher, reward gjson.Result) Category {
	for _, known := range []Category{CategoryProduct, CategoryShop, CategoryVoucher} {
		if strings.EqualFold(word, string(known)) {
			return known
		}
	}
	switch {
	case word != "":
		return Category(word)
	case voucher != nil:
		return CategoryVoucher
	case reward.IsObject():
		return CategoryProduct
	default:
		return CategoryShop
	}
}

func parseRewards(v gjson.Result) []Reward {
	if v.IsObject() {
		return []Reward{parseReward(v)}
	}
	var rewards []Reward
	for _, item := range looseList(v) {
		rewards = append(rewards, parseReward(item))
	}
	return rewards
}

func parseReward(v gjson.Result) Reward {
	r := Reward{Raw: Raw(v.Raw)}
	for key, value := range looseMembers(v) {
		switch key {
		case "product_id":
			r.ProductID = looseID(value)
		case "title":
			r.Titles = looseStrings(value)
		case "attributes":
			r.Attributes = looseOptions(value)
		case "sku_options":
			r.SKUOptions = looseOptions(value)
		case "price":
			r.Prices = parsePrices(value)
		case "service":
			r.Services = looseStrings(value)
		}
	}
	return r
}

func parsePrices(v gjson.Result) []PriceBound {
	var bounds []PriceBound
	for _, item := range looseList(v) {
		for mode, value := range looseMembers(item) {
			if ends := looseList(value); len(ends) == 2 {
				bounds = append(bounds, PriceBound{
					Mode: mode,
					Low:  looseNumber(ends[0]),
					High: looseNumber(ends[1]),
				})
			}
		}
	}
	return bounds
}

func parseVoucher(v gjson.Result) *Voucher {
	if !v.IsObject() || len(v.Map()) == 0 {
		return nil
	}
	out := new(Voucher)
	_ = json.Unmarshal([]byte(v.Raw), out) // what has another type stays empty
	return out
}

func parseVectors(v gjson.Result) map[string][]float64 {
	var vectors map[string][]float64
	if json.Unmarshal([]byte(v.Raw), &vectors) != nil || len(vectors) == 0 {
		return nil
	}
	return vectors
}
