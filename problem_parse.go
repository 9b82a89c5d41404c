package arena

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// ParseProblem reads one problem of a suite. It needs a problem_id or a
// query, for one of them is its identity. A problem without a category is a
// voucher task if it has a voucher, a product task if its reward is one
// object, else a shop task. An empty voucher is none, as the subnet has it.
func ParseProblem(text []byte) (Problem, error) {
	doc, err := fieldsOf(text)
	if err != nil {
		return Problem{}, fmt.Errorf("parse problem: %w", err)
	}
	p := Problem{
		ID: looseID(doc["problem_id"]), Query: looseString(doc["query"]),
		Rewards: parseRewards(doc["reward"]), Voucher: parseVoucher(doc["voucher"]),
		TitleVectors: parseVectors(doc["reward_title_embeddings"]), Raw: Raw(text),
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
	var all []Reward
	for _, item := range looseList(v) {
		all = append(all, parseReward(item))
	}
	return all
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
	var all []PriceBound
	for _, item := range looseList(v) {
		for mode, value := range looseMembers(item) {
			if ends := looseList(value); len(ends) == 2 {
				all = append(all, PriceBound{Mode: mode, Low: looseNumber(ends[0]), High: looseNumber(ends[1])})
			}
		}
	}
	return all
}

func parseVoucher(v gjson.Result) *Voucher {
	out := new(Voucher)
	words := map[string]*string{"voucher_type": &out.Type, "discount_type": &out.DiscountType}
	amounts := map[string]*float64{
		"threshold": &out.Threshold, "face_value": &out.FaceValue, "discount": &out.Discount, "cap": &out.Cap, "budget": &out.Budget,
	}
	empty := true
	for key, value := range looseMembers(v) {
		empty = false
		if word := words[key]; word != nil {
			*word = looseString(value)
		}
		if n := looseNumber(value); n != nil && amounts[key] != nil {
			*amounts[key] = *n
		}
	}
	if empty {
		return nil
	}
	return out
}

func parseVectors(v gjson.Result) map[string][]float64 {
	var all map[string][]float64
	if json.Unmarshal([]byte(v.Raw), &all) != nil || len(all) == 0 {
		return nil
	}
	return all
}
