package arena

// Problem is one shopping task with the specification it is graded by.
type Problem struct {
	// ID is the source's own problem_id, or empty: published suites have none.
	ID       string
	Query    string
	Category Category
	// Rewards are the products asked for, one for a product task.
	Rewards []Reward
	// Voucher is nil where the task has none.
	Voucher    *Voucher
	Difficulty string
	Title      string
	// TitleVectors are precomputed embeddings of reward titles, not of unit
	// length; nil where the source has none.
	TitleVectors map[string][]float64
	// Raw is the problem as its source wrote it.
	Raw Raw
}

// Category is the kind of task.
type Category string

// The kinds of tasks in the subnet's suites.
const (
	CategoryProduct Category = "Product"
	CategoryShop    Category = "Shop"
	CategoryVoucher Category = "Voucher"
)

// Reward is the specification of one product asked for.
type Reward struct {
	ProductID  string
	Titles     []string
	Attributes []Option
	SKUOptions []Option
	Prices     []PriceBound
	Services   []string
	// Raw is the reward object as its source wrote it.
	Raw Raw
}

// Option is one key and value that a product has or should have.
type Option struct {
	Key   string
	Value string
}

// PriceBound is one condition on a price in PHP, inclusive at both ends. Only
// the bound that its mode uses is read; nil is an open end.
type PriceBound struct {
	// Mode is "between", "less than" or "greater than".
	Mode string
	Low  *float64
	High *float64
}

// Voucher is the discount of a voucher task. Prices are in PHP; Discount is a
// share from 0 to 1.
type Voucher struct {
	// Type is "platform" or "shop".
	Type      string
	Threshold float64
	// DiscountType is "fixed" or "percentage".
	DiscountType string
	FaceValue    float64
	Discount     float64
	Cap          float64
	Budget       float64
}

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
