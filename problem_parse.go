package arena

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ParseProblem reads one problem of a suite. It needs a problem_id or a
// query, for one of them is its identity. A problem without a category is a
// voucher task if it has a voucher, a product task if its reward is one
// object, else a shop task. An empty voucher is none, as the subnet has it.
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
	members := looseObject(text)
	if len(members) == 0 {
		return nil
	}
	v := new(Voucher)
	words := map[string]*string{"voucher_type": &v.Type, "discount_type": &v.DiscountType}
	amounts := map[string]*float64{
		"threshold": &v.Threshold, "face_value": &v.FaceValue, "discount": &v.Discount, "cap": &v.Cap, "budget": &v.Budget,
	}
	for _, m := range members {
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
