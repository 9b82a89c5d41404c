package agreement

// Report is the result of comparing raters.
type Report struct {
	Raters []Rater `json:"raters"`
	// Pairs has every pair of raters, in the order of Raters.
	Pairs []Pair `json:"pairs"`
	// Panel has the alpha of all raters together, nil for fewer than three.
	Panel *Panel `json:"panel,omitempty"`
	// SelfPreference has an entry for each family of models in a panel whose lines have the votes.
	SelfPreference []SelfPreference `json:"self_preference,omitempty"`
	// Fits has one fit for each judge, if a scale was fitted to labels.
	Fits []Fit `json:"fits,omitempty"`
	// Validator has the comparisons with the subnet's validator, if traces with the validator's
	// findings were read.
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
	// Shared is the number of attempts that both raters have, scored or not. N is the number
	// that both scored, and Coverage is N as a share of Shared.
	N         int     `json:"n"`
	Shared    int     `json:"shared"`
	Coverage  float64 `json:"coverage"`
	AUnscored int     `json:"a_unscored"`
	BUnscored int     `json:"b_unscored"`
	OnlyA     int     `json:"only_a"`
	OnlyB     int     `json:"only_b"`
	Problems  int     `json:"problems"`
	// Levels are the distinct scores. Confusion counts attempts, with A's level by row and B's
	// by column.
	Levels    []float64 `json:"levels"`
	Confusion [][]int   `json:"confusion"`
	Exact     Figure    `json:"exact"`
	Kappa     Figure    `json:"kappa"`
	// WeightedKappa is the kappa in which a disagreement is weighted by the squared distance of
	// the scores.
	WeightedKappa Figure `json:"weighted_kappa"`
	Alpha         Alpha  `json:"alpha"`
	// Bias is the mean of B's score minus A's score.
	Bias Figure `json:"bias"`
	// Precision compares B with A as the labels. It is nil if no threshold is set.
	Precision *Precision `json:"precision,omitempty"`
}

// Alpha is Krippendorff's alpha for three levels of measurement.
type Alpha struct {
	Nominal  Figure `json:"nominal"`
	Ordinal  Figure `json:"ordinal"`
	Interval Figure `json:"interval"`
}

// Panel is the agreement of all raters together.
type Panel struct {
	// Attempts is the number of attempts that any rater has. N is the number of those that at
	// least two raters scored.
	N        int     `json:"n"`
	Attempts int     `json:"attempts"`
	Coverage float64 `json:"coverage"`
	Alpha    Alpha   `json:"alpha"`
}

// Figure is a statistic with the ends of its 95 % interval. Both fields are nil if the statistic
// is not defined, such as a kappa of raters who use a single level.
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
