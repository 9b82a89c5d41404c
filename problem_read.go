package arena

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// ParseProblem reads one problem of a suite. It needs a problem_id or a
// query, for one of them is its identity. A problem without a category is a
// voucher task if it has a voucher, a product task if its reward is one
// object, else a shop task.
func ParseProblem(text []byte) (Problem, error) {
	var doc struct {
		ProblemID  json.RawMessage `json:"problem_id"`
		ID         json.RawMessage `json:"id"`
		Query      json.RawMessage `json:"query"`
		Category   json.RawMessage `json:"category"`
		Reward     json.RawMessage `json:"reward"`
		Voucher    json.RawMessage `json:"voucher"`
		Difficulty json.RawMessage `json:"difficulty"`
		Title      json.RawMessage `json:"title"`
		Vectors    json.RawMessage `json:"reward_title_embeddings"`
	}
	if err := unmarshalObject(text, &doc); err != nil {
		return Problem{}, fmt.Errorf("parse problem: %w", err)
	}
	p := Problem{
		ID: looseID(doc.ProblemID), Query: looseString(doc.Query),
		Difficulty: looseString(doc.Difficulty), Title: looseString(doc.Title),
		Rewards: parseRewards(doc.Reward), Voucher: parseVoucher(doc.Voucher),
		TitleVectors: parseVectors(doc.Vectors), Raw: Raw(text),
	}
	if p.ID == "" {
		p.ID = looseID(doc.ID)
	}
	if p.Key() == "" {
		return Problem{}, errors.New("parse problem: neither problem_id nor query")
	}
	p.Category = category(looseString(doc.Category), p.Voucher, Raw(doc.Reward))
	return p, nil
}

func category(word string, voucher *Voucher, reward Raw) Category {
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
	case reward.Kind() == Object:
		return CategoryProduct
	default:
		return CategoryShop
	}
}

func parseRewards(text json.RawMessage) []Reward {
	if Raw(text).Kind() == Object {
		return []Reward{parseReward(text)}
	}
	var all []Reward
	for _, item := range looseList(text) {
		all = append(all, parseReward(item))
	}
	return all
}

func parseReward(text json.RawMessage) Reward {
	r := Reward{Raw: Raw(text)}
	for _, m := range looseObject(text) {
		switch m.key {
		case "product_id":
			r.ProductID = looseID(m.value)
		case "title":
			r.Titles = looseStrings(m.value)
		case "attributes":
			r.Attributes = looseOptionList(m.value)
		case "sku_options":
			r.SKUOptions = looseOptionList(m.value)
		case "price":
			r.Prices = parsePrices(m.value)
		case "service":
			r.Services = looseStrings(m.value)
		}
	}
	return r
}

func parsePrices(text json.RawMessage) []PriceBound {
	var all []PriceBound
	for _, item := range looseList(text) {
		for _, m := range looseObject(item) {
			if ends := looseList(m.value); len(ends) == 2 {
				all = append(all, PriceBound{Mode: m.key, Low: looseNumber(ends[0]), High: looseNumber(ends[1])})
			}
		}
	}
	return all
}

func parseVoucher(text json.RawMessage) *Voucher {
	if Raw(text).Kind() != Object {
		return nil
	}
	v := new(Voucher)
	words := map[string]*string{"voucher_type": &v.Type, "discount_type": &v.DiscountType}
	amounts := map[string]*float64{
		"threshold": &v.Threshold, "face_value": &v.FaceValue, "discount": &v.Discount, "cap": &v.Cap, "budget": &v.Budget,
	}
	for _, m := range looseObject(text) {
		if word := words[m.key]; word != nil {
			*word = looseString(m.value)
		}
		if n := looseNumber(m.value); n != nil && amounts[m.key] != nil {
			*amounts[m.key] = *n
		}
	}
	return v
}

func parseVectors(text json.RawMessage) map[string][]float64 {
	var all map[string][]float64
	if json.Unmarshal(text, &all) != nil || len(all) == 0 {
		return nil
	}
	return all
}

// ReadProblems reads a suite of problems: JSON lines, or one JSON array. It
// refuses a file without problems and names the line (the entry, of an array)
// it could not read or that is longer than limit bytes.
func ReadProblems(r io.Reader, limit int) ([]Problem, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	array, err := startsArray(in)
	if err != nil {
		return nil, err
	}
	read := readLines
	if array {
		read = readArray
	}
	all, err := read(in, limit)
	if err == nil && len(all) == 0 {
		err = errors.New("read problems: the file holds none")
	}
	return all, err
}

// byteOrderMark is put before UTF-8 by some editors; it is no part of it.
const byteOrderMark = "\uFEFF"

// startsArray drops a byte order mark and looks for the first sign of content.
func startsArray(in *bufio.Reader) (bool, error) {
	head, err := in.Peek(in.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read problems: %w", err)
	}
	if bytes.HasPrefix(head, []byte(byteOrderMark)) {
		head = head[len(byteOrderMark):]
		if _, bad := in.Discard(len(byteOrderMark)); bad != nil {
			return false, fmt.Errorf("read problems: %w", bad)
		}
	}
	head = bytes.TrimSpace(head)
	if len(head) == 0 && err != nil {
		return false, errors.New("read problems: the file is empty")
	}
	return len(head) > 0 && head[0] == '[', nil
}

func readArray(in *bufio.Reader, limit int) ([]Problem, error) {
	d := json.NewDecoder(in)
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("read problems: %w", err)
	}
	var all []Problem
	for d.More() {
		var text json.RawMessage
		if err := d.Decode(&text); err != nil {
			return nil, fmt.Errorf("read problems: entry %d: %w", len(all)+1, err)
		}
		p, err := parseLimited(text, limit)
		if err != nil {
			return nil, fmt.Errorf("read problems: entry %d: %w", len(all)+1, err)
		}
		all = append(all, p)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("read problems: end of array after entry %d: %w", len(all), err)
	}
	return all, nil
}

func readLines(in *bufio.Reader, limit int) ([]Problem, error) {
	var all []Problem
	for number, more := 1, true; more; number++ {
		line, err := readLine(in, limit)
		if more = !errors.Is(err, io.EOF); more && err != nil {
			return nil, fmt.Errorf("read problems: line %d: %w", number, err)
		}
		text := bytes.TrimSpace(line)
		if len(text) == 0 {
			continue
		}
		p, err := parseLimited(text, limit)
		if err != nil {
			return nil, fmt.Errorf("read problems: line %d: %w", number, err)
		}
		all = append(all, p)
	}
	return all, nil
}

// readLine returns the next line, in memory of its own. The last one comes
// with io.EOF.
func readLine(in *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > limit {
			return nil, fmt.Errorf("longer than %d bytes", limit)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func parseLimited(text []byte, limit int) (Problem, error) {
	if len(text) > limit {
		return Problem{}, fmt.Errorf("longer than %d bytes", limit)
	}
	return ParseProblem(text)
}
