package gates

import "strings"

type keyKind uint8

const (
	// keyNone is that of a value that stands under no key.
	keyNone keyKind = iota
	keyOther
	// keyProse is that of prose about the values of attributes and options.
	keyProse
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
	case "":
		return keyNone
	case "product_id", "productId", "item_id", "itemId", "id":
		return keyID
	case "shop_id", "shopId", "seller_id", "sellerId", "store_id":
		return keyShop
	case "title", "name", "product_name":
		return keyTitle
	case "brand", "brand_name":
		return keyBrand
	case "short_description", "specification":
		return keyProse
	case "description", "main_image_url", "product_url", "image", "images", "url", "tool_call_id":
		return keySkip
	}
	if strings.Contains(key, "price") || strings.HasPrefix(key, "total") || strings.Contains(key, "amount") || key == "payable" {
		return keyPrice
	}
	return keyOther
}

// role is that of the words of a value under such a key.
func (k keyKind) role() role {
	if k == keyProse {
		return roleText
	}
	return roleValue
}
