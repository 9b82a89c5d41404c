package look

import (
	"fmt"
	"strings"

	"github.com/trajectory-arena/arena/judges/agreement"
	"github.com/trajectory-arena/arena/judges/sample"
)

// questions are what people are asked, each answer as a number.
var questions = map[string]func(*sample.Answer) *float64{
	"who wrote the calls": func(a *sample.Answer) *float64 { return number(a.Agentic) },
	"grade":               func(a *sample.Answer) *float64 { return a.Score },
	"protected":           func(a *sample.Answer) *float64 { return number(a.Leak) },
}

func number(yes *bool) *float64 {
	if yes == nil {
		return nil
	}
	return new(map[bool]float64{true: 1}[*yes])
}

// between says how far people agree, question by question; nothing of one alone.
func between(people []person) (map[string]agreement.Report, error) {
	reports := map[string]agreement.Report{}
	if len(people) < 2 {
		return reports, nil
	}
	for question, said := range questions {
		raters := make([]agreement.Ratings, len(people))
		for i, p := range people {
			raters[i] = agreement.Ratings{Name: p.Name, Scores: map[agreement.Key]*float64{}}
			for id, a := range p.answers {
				run, problem, _ := strings.Cut(id, "/")
				raters[i].Scores[agreement.Key{Run: run, Problem: problem}] = said(&a)
			}
		}
		report, err := agreement.Compare(raters, agreement.DefaultOptions())
		if err != nil {
			return nil, err
		}
		reports[question] = report
	}
	return reports, nil
}

func figure(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", *x)
}

func bounds(ci *[2]float64) string {
	if ci == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f-%.3f", ci[0], ci[1])
}
