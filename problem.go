package arena

// Problem is one shopping task with the specification it is graded by.
type Problem struct {
	// ID is the source's own problem_id, or empty: published suites have none.
	ID string
	// Domain is the name of the domain of a problem that was read from its attempts. It is empty
	// for problems of the shop.
	Domain string
	// Literal reports whether the guard compares the request word for word only, since its
	// detector of reworded requests was not measured on the domain.
	Literal bool
	// Identity has the patterns of what names the customer in the request.
	Identity []string
	// Lexicon has the currencies, units and synonyms by which the guard compares the request. It is
	// nil for those of the shop.
	Lexicon  *Lexicon
	Query    string
	Category Category
	// Rewards are the requested products, one for a product task.
	Rewards []Reward
	// Voucher is nil if the task has none.
	Voucher *Voucher
	// TitleVectors are precomputed embeddings of reward titles, not of unit
	// length; nil if the source has none.
	TitleVectors map[string][]float64
	// Raw is the problem as its source wrote it. Scores are read from it, so
	// that no oddity of a source is lost on the way.
	Raw Raw
}

// Key returns the problem's identity: its ID, or its text if the source has no ID.
func (p *Problem) Key() string {
	if p.ID != "" {
		return p.ID
	}
	return p.Query
}

// Category is the kind of task.
type Category string

// The kinds of tasks in the subnet's suites. A source may name others, which
// stay as they were written and have no rules of scoring.
const (
	CategoryProduct Category = "Product"
	CategoryShop    Category = "Shop"
	CategoryVoucher Category = "Voucher"
)

// Reward is the specification of one requested product.
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
	Type      string  `json:"voucher_type"`
	Threshold float64 `json:"threshold"`
	// DiscountType is "fixed" or "percentage".
	DiscountType string  `json:"discount_type"`
	FaceValue    float64 `json:"face_value"`
	Discount     float64 `json:"discount"`
	Cap          float64 `json:"cap"`
	Budget       float64 `json:"budget"`
}

// Suite is an index of problems, by which the problem of a trace is found.
type Suite struct {
	byID     map[string]*Problem
	byQuery  map[string]*Problem
	nameless map[string]*Problem
}

// NewSuite indexes problems. If two problems have the same id or the same text, the later one is
// used, as in the subnet's own bookkeeping.
func NewSuite(problems []Problem) *Suite {
	s := &Suite{
		byID:     map[string]*Problem{},
		byQuery:  map[string]*Problem{},
		nameless: map[string]*Problem{},
	}
	for i := range problems {
		p := &problems[i]
		s.byQuery[p.Query] = p
		if p.ID == "" {
			s.nameless[p.Query] = p
		} else {
			s.byID[p.ID] = p
		}
	}
	return s
}

// Find returns the problem with the trace's problem_id. If either side has no id,
// the text of the request decides.
func (s *Suite) Find(t *Trace) (*Problem, bool) {
	if p, ok := s.byID[t.ProblemID]; ok && t.ProblemID != "" {
		return p, true
	}
	if t.Query == "" {
		return nil, false
	}
	if t.ProblemID == "" {
		p, ok := s.byQuery[t.Query]
		return p, ok
	}
	p, ok := s.nameless[t.Query]
	return p, ok
}
