package agreement

// Report says how far raters agree.
type Report struct {
	Raters []Rater `json:"raters"`
	// Pairs are all pairs of raters, in the order they were given.
	Pairs []Pair `json:"pairs"`
	// Panel has one alpha over more than two raters together.
	Panel *Panel `json:"panel,omitempty"`
	// Fits has one for each judge, where a multiplier was fitted to labels.
	Fits []Fit `json:"fits,omitempty"`
	// Validator has one for each judge, where a day was given.
	Validator []Validator `json:"validator,omitempty"`
	Bootstrap Bootstrap   `json:"bootstrap"`
}

// Rater counts what one rater answered.
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
	// N is how many attempts both scored; Coverage its share of the attempts
	// that both were asked about, of which some are unscored.
	N         int     `json:"n"`
	Shared    int     `json:"shared"`
	Coverage  float64 `json:"coverage"`
	AUnscored int     `json:"a_unscored"`
	BUnscored int     `json:"b_unscored"`
	OnlyA     int     `json:"only_a"`
	OnlyB     int     `json:"only_b"`
	Problems  int     `json:"problems"`
	// Levels are the scores; Confusion counts a's level by row, b's by column.
	Levels    []float64 `json:"levels"`
	Confusion [][]int   `json:"confusion"`
	Exact     Figure    `json:"exact"`
	Kappa     Figure    `json:"kappa"`
	// WeightedKappa weighs a disagreement by the squared distance of the scores.
	WeightedKappa Figure `json:"weighted_kappa"`
	Alpha         Alpha  `json:"alpha"`
	// Bias is the mean of b's score less a's.
	Bias Figure `json:"bias"`
	// Precision takes a as labels; nil where no threshold was given.
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
	// N is how many attempts at least two raters scored, of Attempts that any
	// was asked about.
	N        int     `json:"n"`
	Attempts int     `json:"attempts"`
	Coverage float64 `json:"coverage"`
	Alpha    Alpha   `json:"alpha"`
}

// Figure is a statistic with the ends of its 95 % interval. All are nil where
// the statistic is not defined, such as a kappa of raters who use one level.
type Figure struct {
	Value *float64    `json:"value"`
	CI95  *[2]float64 `json:"ci95"`
}

// Bootstrap says how the intervals were made.
type Bootstrap struct {
	Samples int    `json:"samples"`
	Seed    uint64 `json:"seed"`
	Cluster string `json:"cluster"`
}

// Precision is how often a judge is right where it gives a threshold or more, and
// how much of what labels put there it finds, as of the whole day that the labels
// were drawn from: each weighs 1 over the probability with which it was drawn.
type Precision struct {
	Threshold float64 `json:"threshold"`
	// N counts labels that the judge scored, Above those at the threshold or more
	// by the judge.
	N         int    `json:"n"`
	Above     int    `json:"above"`
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
}

// weighed is the weight of an attempt as far as the judge, the labels and both put
// it at the threshold or more.
type weighed struct{ judge, labels, both float64 }

// PrecisionAt holds a judge against drawn labels at a threshold.
func PrecisionAt(labels, judge *Ratings, threshold float64, opt Options) Precision {
	p := Precision{Threshold: threshold}
	byProblem := byCluster(labels.Scores, func(key Key, truth *float64) (w weighed, has bool) {
		said := judge.Scores[key]
		if truth == nil || said == nil {
			return w, false
		}
		p.N++
		if *truth >= threshold {
			w.labels = 1 / labels.drawn(key)
		}
		if *said >= threshold {
			p.Above++
			w.judge, w.both = 1/labels.drawn(key), w.labels
		}
		return w, true
	})
	shares := figures(len(byProblem), opt, func(drawn []int) []float64 {
		var sum weighed
		for _, i := range drawn {
			for _, w := range byProblem[i] {
				sum = weighed{sum.judge + w.judge, sum.labels + w.labels, sum.both + w.both}
			}
		}
		return []float64{sum.both / sum.judge, sum.both / sum.labels}
	})
	p.Precision, p.Recall = shares[0], shares[1]
	return p
}
