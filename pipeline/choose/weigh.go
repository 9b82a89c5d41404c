package choose

// Weigh leaves of each source as many tokens as its weight gives it, to within
// one row, and the others with the reason. The source that has least for its
// weight gives all it has; one of weight 0 gives nothing and bounds no other.
// Rows are taken in the order they come in.
func Weigh(rows []*Row, weights []float64, reason string) {
	has := make([]float64, len(weights))
	for _, r := range rows {
		has[r.Source] += float64(r.Tokens)
	}
	scale := -1.0
	for s, w := range weights {
		if w > 0 && (scale < 0 || has[s]/w < scale) {
			scale = has[s] / w
		}
	}
	taken := make([]float64, len(weights))
	for _, r := range rows {
		// a part in 10^9 is lost in the division
		if taken[r.Source] >= scale*weights[r.Source]*(1-1e-9) {
			r.Reason = reason
			continue
		}
		taken[r.Source] += float64(r.Tokens)
	}
}
