package gates

import "strings"

// valueRole tells the values of attributes and options from prose about them.
func valueRole(key string) role {
	if key == "short_description" || key == "specification" {
		return roleText
	}
	return roleValue
}

type keyKind uint8

const (
	keyOther keyKind = iota
	keyID
	keyShop
	keyTitle
	keyBrand
	keyPrice
	keySkip
)

// kindOf says what a key of a result means, in the shapes of the shopping
// tools and in those of the later environment.
func kindOf(key string) keyKind {
	switch key {
	case "product_id", "productId", "item_id", "itemId", "id":
		return keyID
	case "shop_id", "shopId", "seller_id", "sellerId", "store_id":
		return keyShop
	case "title", "name", "product_name":
		return keyTitle
	case "brand", "brand_name":
		return keyBrand
	case "description", "main_image_url", "product_url", "image", "images", "url", "tool_call_id":
		return keySkip
	}
	if strings.Contains(key, "price") || strings.HasPrefix(key, "total") || strings.Contains(key, "amount") || key == "payable" {
		return keyPrice
	}
	return keyOther
}
