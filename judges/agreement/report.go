package agreement

// Report is the result of comparing raters.
type Report struct {
	Raters []Rater `json:"raters"`
	// Pairs are all pairs of raters, in their order.
	Pairs []Pair `json:"pairs"`
	// Panel has one alpha over more than two raters together.
	Panel *Panel `json:"panel,omitempty"`
	// Fits has one fit for each judge, if a multiplier was fitted to labels.
	Fits []Fit `json:"fits,omitempty"`
	// Validator has the comparisons with the validator, if a day was read.
	Validator []Validator `json:"validator,omitempty"`
	Bootstrap Bootstrap   `json:"bootstrap"`
}

// Rater counts the scores of one rater.
type Rater struct {
	Name     string `json:"name"`
	Attempts int    `json:"attempts"`
	Scored   int    `json:"scored"`
	Unscored int    `json:"unscored"`
}

// Pair compares two raters.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// N is the number of attempts that both scored, Coverage its share of Shared, the
	// attempts that both have, scored or not.
	N         int     `json:"n"`
	Shared    int     `json:"shared"`
	Coverage  float64 `json:"coverage"`
	AUnscored int     `json:"a_unscored"`
	BUnscored int     `json:"b_unscored"`
	OnlyA     int     `json:"only_a"`
	OnlyB     int     `json:"only_b"`
	Problems  int     `json:"problems"`
	// Levels are the scores. Confusion counts attempts, A's level by row and B's by
	// column.
	Levels    []float64 `json:"levels"`
	Confusion [][]int   `json:"confusion"`
	Exact     Figure    `json:"exact"`
	Kappa     Figure    `json:"kappa"`
	// WeightedKappa weights a disagreement by the squared distance of the scores.
	WeightedKappa Figure `json:"weighted_kappa"`
	Alpha         Alpha  `json:"alpha"`
	// Bias is the mean of B's score minus A's.
	Bias Figure `json:"bias"`
	// Precision takes A as labels; nil if no threshold is set.
	Precision *Precision `json:"precision,omitempty"`
}

// Alpha is Krippendorff's alpha at three levels of measurement.
type Alpha struct {
	Nominal  Figure `json:"nominal"`
	Ordinal  Figure `json:"ordinal"`
	Interval Figure `json:"interval"`
}

// Panel is the agreement of all raters together.
type Panel struct {
	// N is the number of attempts that at least two raters scored, of the Attempts that
	// any has.
	N        int     `json:"n"`
	Attempts int     `json:"attempts"`
	Coverage float64 `json:"coverage"`
	Alpha    Alpha   `json:"alpha"`
}

// Figure is a statistic with the ends of its 95 % interval. Both are nil if the
// statistic is not defined, such as a kappa of raters who use one level.
type Figure struct {
	Value *float64    `json:"value"`
	CI95  *[2]float64 `json:"ci95"`
}

// Bootstrap describes how the intervals were computed.
type Bootstrap struct {
	Samples int    `json:"samples"`
	Seed    uint64 `json:"seed"`
	Cluster string `json:"cluster"`
}
