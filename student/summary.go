package student

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/internal/evaluation"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/student/inspectlog"
)

// Table returns a summary as a few lines for people, the result first. If nothing was scored, it
// returns the reasons instead.
func Table(s *evaluation.Summary) string {
	switch {
	case s.Scored == 0:
		return fmt.Sprintf("no result     nothing was scored: %d of %d rollouts are infra\n%s%s", s.InfraErrors, s.Samples, infra(s), unparsed(s))
	case s.NoRate != "":
		return fmt.Sprintf("no result     %s\n%sstops         %s\nlabels        %s\n%s", s.NoRate, unparsed(s), counts(s.Stops), counts(s.Labels), infra(s))
	}
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"success rate  %s by problem, of %d scored rollouts (coverage %.4f)\n",
		sure95(s.ASRScored, s.Clustered95),
		s.Scored,
		s.Coverage,
	)
	fmt.Fprintf(&b, "rollouts      %d of %d problems, %d infra", s.Samples, s.Problems, s.InfraErrors)
	if s.InfraErrors > 0 {
		fmt.Fprintf(&b, " (%.4f with those as not solved)", *s.ASRAll)
	}
	b.WriteByte('\n')
	b.WriteString(independence(s))
	b.WriteString(passRates(s))
	for _, c := range slicesx.SortedKeys(s.ByCategory) {
		p := s.ByCategory[c]
		fmt.Fprintf(
			&b,
			"%-13s %s, %d of %d in %d problems\n",
			c,
			sure95(p.ASRScored, p.Clustered95),
			p.Successes,
			p.Scored,
			p.Problems,
		)
	}
	if s.Final != nil {
		fmt.Fprintf(
			&b,
			"quality       %s, %d of %d judged; final %.4f\n",
			sure95(s.Quality, s.Quality95),
			s.Judged,
			s.Scored,
			*s.Final,
		)
	}
	fmt.Fprintf(
		&b,
		"titles        %s\nstops         %s\nlabels        %s\n%s",
		counts(s.Titles),
		counts(s.Stops),
		counts(s.Labels),
		infra(s)+unparsed(s),
	)
	return b.String()
}

// passRates returns a line for people for each pass rate, pass@k or pass^k, with its interval.
func passRates(s *evaluation.Summary) (lines string) {
	for _, k := range slicesx.SortedKeys(s.Pass) {
		rate := s.Pass[k]
		lines += fmt.Sprintf("%-13s %s\n", k, sure95(&rate.Mean, rate.CI95))
	}
	return lines
}

// independence returns lines for people that explain the interval of the success rate: whether
// problems were joined into groups, and how much narrower more problems or more samples would make
// it. It returns "" if the summary has neither groups nor variances.
func independence(s *evaluation.Summary) (lines string) {
	if s.Groups > 0 {
		lines = fmt.Sprintf("groups        %d of the %d problems; intervals are by group\n", s.Groups, s.Problems)
	}
	if s.Between == nil || s.Within == nil {
		return lines
	}
	samples := float64(s.Scored) / float64(s.Problems)
	now := *s.Between + *s.Within/samples
	if now == 0 {
		return lines
	}
	moreProblems := math.Sqrt(0.5)
	moreSamples := math.Sqrt((*s.Between + *s.Within/(2*samples)) / now)
	return lines + fmt.Sprintf("variance      %.4f between problems, %.4f within; twice the problems narrow the interval to %.0f %%, twice the samples to %.0f %%\n",
		*s.Between, *s.Within, 100*moreProblems, 100*moreSamples)
}

// unparsed returns a line for people for each form of tool calls that neither the server nor this
// program parsed, with the number of rollouts that have it and the server settings that would parse
// it.
func unparsed(s *evaluation.Summary) (lines string) {
	for _, form := range slicesx.SortedKeys(s.Unparsed) {
		u := s.Unparsed[form]
		lines += fmt.Sprintf("unparsed      %d of %d rollouts hold calls in the form %s that nobody parsed; %s\n", u.Rollouts, s.Samples, form, u.ParsedBy)
	}
	return lines
}

func infra(s *evaluation.Summary) (lines string) {
	for _, reason := range slicesx.SortedKeys(s.Infra) {
		lines += fmt.Sprintf(
			"infra         %d %s: %s\n",
			s.Infra[reason],
			reason,
			cmp.Or(s.InfraWords[reason], "no words"),
		)
	}
	return lines
}

func sure95(rate *float64, interval *[2]float64) string {
	switch {
	case rate == nil:
		return "unknown"
	case interval == nil:
		return fmt.Sprintf("%.4f (95 %%: unknown)", *rate)
	}
	return fmt.Sprintf("%.4f (95 %%: %.4f to %.4f)", *rate, interval[0], interval[1])
}

func counts(m map[string]int) string { return cmp.Or(corpus.FormatCounts(m), "none") }

func inspectScores(s *evaluation.Summary) []inspectlog.Score {
	success := inspectlog.Score{
		Name:     "success",
		Scored:   s.Scored,
		Unscored: s.InfraErrors,
		Metrics:  map[string]*float64{"accuracy": s.ASRScored, "asr_all": s.ASRAll, "stderr": s.SEScored},
	}
	for name, rate := range s.Pass {
		success.Metrics[name] = &rate.Mean
	}
	scores := []inspectlog.Score{success}
	if s.Quality != nil {
		scores = append(scores, inspectlog.Score{
			Name:     "quality",
			Scored:   s.Judged,
			Unscored: s.Samples - s.Judged,
			Metrics:  map[string]*float64{"mean": s.Quality, "final": s.Final},
		})
	}
	for _, axis := range slicesx.SortedKeys(s.Axes) {
		n := s.AxisRollouts[axis]
		mean := s.Axes[axis]
		scores = append(scores, inspectlog.Score{
			Name:     axis,
			Scored:   n,
			Unscored: s.Samples - n,
			Metrics:  map[string]*float64{"mean": &mean},
		})
	}
	return scores
}
