package outcome

import (
	"fmt"
	"math"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/python"
)

// axis is one of the four things that a product is checked for.
type axis int

const (
	axisTitle axis = iota
	axisPrice
	axisService
	axisOptions
	axes
)

// tally counts the checks of one product against one reward, per axis.
type tally struct {
	hits, total [axes]int
}

func (t *tally) add(a axis, hit bool) {
	t.total[a]++
	if hit {
		t.hits[a]++
	}
}

// share is hits over checks on the axes, 0 where nothing was checked.
func (t *tally) share(of ...axis) float64 {
	var hits, total int
	for _, a := range of {
		hits += t.hits[a]
		total += t.total[a]
	}
	return float64(hits) / float64(max(total, 1))
}

func isGold(product, reward value) bool {
	id := func(of string, v value) value {
		defer python.Within(of)
		return get(v, "product_id")
	}
	return equal(id("product", product), id("reward", reward))
}

// check holds a product against a reward, axis by axis. titles has a hit or
// miss for each title that could be compared.
func check(product *document, reward *wish, titles []bool) (t tally) {
	for _, hit := range titles {
		t.add(axisTitle, hit)
	}
	needObject(reward.value)
	checkPrices(&t, product.fields, reward)
	checkServices(&t, product.fields, reward.value)
	checkOptions(&t, product, reward)
	return t
}

func needObject(reward value) {
	defer python.Within("reward")
	items(reward)
}

func checkPrices(t *tally, product value, reward *wish) {
	defer python.Within("price")
	price, _ := product.Get("price")
	for i := range reward.bounds {
		t.add(axisPrice, reward.bounds[i].holds(price))
	}
	python.Reraise(reward.unbound)
}

func checkServices(t *tally, product, reward value) {
	defer python.Within("service")
	for _, service := range walk(reward, "service") {
		t.add(axisService, contains(get(product, "service"), service))
	}
}

// bound is what a reward demands of a price: a mode with the two ends that it
// chooses from.
type bound struct {
	mode   string
	lo, hi value
}

// readBounds reads the bounds up to the first that cannot be read: those before
// it count until then.
func readBounds(reward value) (all []bound, fault error) {
	fault = python.Catch(func() {
		for _, one := range walk(reward, "price") {
			for _, mode := range items(one) {
				ends := iterate(mode.Value)
				if len(ends) != 2 {
					python.Raise("a bound has %d ends, not 2", len(ends))
				}
				all = append(all, bound{mode.Key, ends[0], ends[1]})
			}
		}
	})
	return all, fault
}

// holds reads only the ends that the mode uses, and the upper end only where the
// lower one holds.
func (b *bound) holds(price value) bool {
	switch b.mode {
	case "less than":
		return atMost(price, b.hi)
	case "greater than":
		return atMost(b.lo, price)
	case "between":
		return atMost(b.lo, price) && atMost(price, b.hi)
	default:
		return false
	}
}

// AppendLine appends the score line of one attempt, without its line end.
// The score has the axes that its task has, or is null.
func AppendLine(dst []byte, t *arena.Trace, o arena.Outcome) []byte {
	dst = gjson.AppendJSONString(append(dst, `{"eval_run_id":`...), t.RunID)
	dst = gjson.AppendJSONString(append(dst, `,"problem_id":`...), t.ProblemID)
	dst = AppendScores(append(dst, `,"score":`...), o.Scores)
	dst = fmt.Appendf(dst, `,"success":%t,"error":`, o.Success)
	if o.Error == "" {
		return append(dst, "null}"...)
	}
	return append(gjson.AppendJSONString(dst, o.Error), '}')
}

// AppendScores appends the JSON object of one score, null for nil.
func AppendScores(dst []byte, s *arena.Scores) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	dst = fmt.Appendf(dst, `{"length":%v,"format":%v`, s.Length, s.Format)
	if a := s.Axes; a != nil {
		dst = fmt.Appendf(dst, `,"product":%v,"gt":%v,"rule":%v,"title":%v,"price":%v,"service":%v,"sku & attrs":%v`,
			a.Product, a.GT, a.Rule, a.Title, a.Price, a.Service, a.SKUAttrs)
		if a.Shop != nil {
			dst = fmt.Appendf(dst, `,"shop":%d`, *a.Shop)
		}
		if a.Budget != nil {
			dst = fmt.Appendf(dst, `,"budget":%d`, *a.Budget)
		}
	}
	return append(dst, '}')
}

// Scale is how much of a success its reasoning quality earns: a share of Floor
// for none, all of it from Ceiling on. Floor is 0 to 1, Ceiling more than 0 and
// at most 1.
type Scale struct {
	// Floor is the factor at grade 0.
	Floor float64 `json:"floor" yaml:"floor"`
	// Ceiling is the grade from which the factor is 1.
	Ceiling float64 `json:"ceiling" yaml:"ceiling"`
}

// SubnetScale is what the subnet pays [oro scoring].
func SubnetScale() Scale { return Scale{Floor: 0.3, Ceiling: 0.80} }

// Multiplier turns a reasoning quality of 0 to 1 into a factor, Floor to 1,
// rounded to four places. Values outside 0 to 1 count as the nearer end, NaN as
// 0.
func (s Scale) Multiplier(q float64) float64 {
	if math.IsNaN(q) {
		q = 0
	}
	q = max(0, min(1, q))
	if q >= s.Ceiling {
		return 1
	}
	return python.Round(s.Floor+q*(1-s.Floor)/s.Ceiling, 4)
}

// Multiplier turns a mean reasoning quality of 0 to 1 into the subnet's factor
// on the success rate, 0.3 to 1.
func Multiplier(q float64) float64 { return SubnetScale().Multiplier(q) }

// FinalScore is the success rate times the multiplier of the mean quality,
// rounded to four places.
func FinalScore(successRate, q float64) float64 {
	return python.Round(successRate*Multiplier(q), 4)
}
