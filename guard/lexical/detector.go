package lexical

// detector holds the weights of the logistic regression over features, fitted
// on requests and texts that ask for the same or for something else;
// docs/leak.md says on which, and how it was cross-validated. Near misses (one
// constraint changed) were left out of the fit: dropping them is no fault. The
// weight of windowed was set again for windows with tight bounds, of which a text
// has many: the least at which none of them drops an unrelated public problem.
var detector = features{
	coverBase: 2.73, coverText: 3.39, numbers: 3.64, numberClash: -1.45, service: -2.35, colour: -0.44,
	template: -0.93, swapped: -1.16, hits: 1.69, missed: -1.41, windowed: -2.8, numbersBack: 4.13,
}

const detectorBias = -7.71

// dropLogOdds is the score from which a text is dropped: the lowest that keeps
// unrelated public problems below 1.5 pairs in 100,000.
const dropLogOdds = -1.94

// score is the log odds that a text asks for the same as the base.
func (f features) score() float64 {
	sum := detectorBias
	weights := detector.values()
	for i, v := range f.values() {
		sum += weights[i] * v
	}
	return sum
}

func (f features) values() [12]float64 {
	return [...]float64{
		f.coverBase, f.coverText, f.numbers, f.numberClash, f.service, f.colour,
		f.template, f.swapped, f.hits, f.missed, f.windowed, f.numbersBack,
	}
}

// inWindow is the best that a window of the text could be measured at: what the
// whole text has of the base, and nothing else.
func (f features) inWindow() features {
	return features{coverBase: f.coverBase, coverText: 1, numbers: f.numbers, hits: f.hits, missed: f.missed, numbersBack: 1, windowed: 1}
}
