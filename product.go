package arena

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Product is one document of the catalogue.
type Product struct {
	ID               string
	ShopID           string
	Title            string
	Price            float64
	Services         []string
	SoldCount        int64
	Brand            string
	Category         string
	ShortDescription string
	Description      string
	// Attributes and SKUs keep the source's order.
	Attributes []Option
	SKUs       []SKU
	// Raw is the document as its source wrote it.
	Raw Raw
}

// SKU is one variant of a product.
type SKU struct {
	ID      string
	Options []Option
}

// ParseProduct reads one catalogue document. A document needs a product_id
// and a numeric price; any other field of another type than expected reads as
// empty, and Raw keeps it.
func ParseProduct(text []byte) (Product, error) {
	var doc struct {
		ID               json.RawMessage `json:"product_id"`
		ShopID           json.RawMessage `json:"shop_id"`
		Title            json.RawMessage `json:"title"`
		Price            json.RawMessage `json:"price"`
		Services         json.RawMessage `json:"service"`
		SoldCount        json.RawMessage `json:"sold_count"`
		Brand            json.RawMessage `json:"brand"`
		Category         json.RawMessage `json:"category"`
		ShortDescription json.RawMessage `json:"short_description"`
		Description      json.RawMessage `json:"description"`
		Attributes       json.RawMessage `json:"attributes"`
		SKUs             json.RawMessage `json:"sku_options"`
	}
	if err := unmarshalObject(text, &doc); err != nil {
		return Product{}, fmt.Errorf("parse product: %w", err)
	}
	price := looseNumber(doc.Price)
	id := looseID(doc.ID)
	switch {
	case id == "":
		return Product{}, errors.New("parse product: no product_id")
	case price == nil:
		return Product{}, fmt.Errorf("parse product %s: no numeric price", id)
	}
	p := Product{
		ID: id, ShopID: looseID(doc.ShopID), Price: *price,
		Title: looseString(doc.Title), Brand: looseString(doc.Brand), Category: looseString(doc.Category),
		ShortDescription: looseString(doc.ShortDescription), Description: looseString(doc.Description),
		Services: looseStrings(doc.Services), Attributes: looseOptions(doc.Attributes), Raw: Raw(text),
	}
	if n := looseNumber(doc.SoldCount); n != nil {
		p.SoldCount = int64(*n)
	}
	for _, sku := range looseObject(doc.SKUs) {
		p.SKUs = append(p.SKUs, SKU{ID: sku.key, Options: looseOptions(sku.value)})
	}
	return p, nil
}
