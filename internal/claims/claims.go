// Package claims holds sentences with numbers against what they were measured
// from.
package claims

import (
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/jsonl"
)

// Claim is a sentence of a page with a number in it.
type Claim struct {
	// What names the thing measured: claims of one thing must agree.
	What     string `json:"what"`
	Page     string `json:"page"`
	Sentence string `json:"sentence"`
	// Source is the file that Formula computes the value from, an expression of
	// numbers: number(re) is the first group of the first match, count(re) how
	// often re matches, json(path) a value by gjson's path.
	Source  string  `json:"source"`
	Formula string  `json:"formula"`
	Value   float64 `json:"value"`
	// Tolerance is how far the computed value may be off.
	Tolerance float64 `json:"tolerance"`
}

// The outcomes of a claim.
const (
	Holds       = "holds"
	Differs     = "does not hold"
	Unchecked   = "cannot be checked"
	Contradicts = "contradicts another"
)

// Finding is what became of a claim.
type Finding struct {
	Claim   Claim
	Outcome string
	Why     string
}

// Check reads claims, one JSON object a line, and checks each against its page
// and source. Both lie within folder, links included.
func Check(path, folder string) ([]Finding, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close() //nolint:errcheck // only read
	var all []Finding
	err = jsonl.Each(path, func(c Claim) error {
		f := c.check(root)
		for i := range all {
			if o := &all[i].Claim; o.What == c.What && math.Abs(o.Value-c.Value) > o.Tolerance+c.Tolerance {
				f.Outcome = Contradicts
				f.Why = fmt.Sprintf("%s gives %v", o.Page, o.Value)
			}
		}
		all = append(all, f)
		return nil
	})
	return all, err
}

func (c *Claim) check(root *os.Root) Finding {
	page, err := read(root, c.Page)
	if err != nil {
		return Finding{*c, Unchecked, err.Error()}
	}
	if !strings.Contains(words(page), words(c.Sentence)) || !says(c.Sentence, c.Value) {
		return Finding{*c, Differs, "the page has no such sentence with this number"}
	}
	if c.Source == "" {
		return Finding{*c, Unchecked, "no source is named"}
	}
	source, err := read(root, c.Source)
	if err != nil {
		return Finding{*c, Unchecked, err.Error()}
	}
	switch got, err := evaluate(c.Formula, source); {
	case err != nil:
		return Finding{*c, Unchecked, err.Error()}
	case !(math.Abs(got-c.Value) <= c.Tolerance):
		return Finding{*c, Differs, fmt.Sprintf("%s gives %v", c.Source, got)}
	default:
		return Finding{*c, Holds, ""}
	}
}

const maxBytes = 64 << 20

func read(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, maxBytes))
	return string(b), err
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

var number = regexp.MustCompile(`\d[\d,]*(\.\d+)?`)

// says reports whether a sentence has the number, as it is or in per cent.
func says(sentence string, value float64) bool {
	for _, text := range number.FindAllString(sentence, -1) {
		n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		if err == nil && (n == value || math.Abs(n-float64(100*value)) < 1e-9) {
			return true
		}
	}
	return false
}

// evaluate computes a formula over the text of its source.
func evaluate(formula, source string) (float64, error) {
	program, err := expr.Compile(formula,
		expr.Env(map[string]any{}),
		function("number", func(pattern string) (float64, error) {
			return firstNumber(pattern, source)
		}),
		function("count", func(pattern string) (float64, error) {
			return countMatches(pattern, source)
		}),
		function("json", func(path string) (float64, error) {
			return jsonNumber(path, source)
		}))
	if err != nil {
		return 0, fmt.Errorf("formula %q: %w", formula, err)
	}
	result, err := expr.Run(program, map[string]any{})
	if err != nil {
		return 0, err
	}
	value, ok := result.(float64)
	if !ok {
		return 0, fmt.Errorf("formula %q gives no number with a decimal point", formula)
	}
	return value, nil
}

// function makes a Go function of one text usable in formulas.
func function(name string, compute func(string) (float64, error)) expr.Option {
	return expr.Function(name, func(arguments ...any) (any, error) {
		return compute(arguments[0].(string))
	}, compute)
}

// firstNumber returns the number in the first group of the first match of pattern.
func firstNumber(pattern, source string) (float64, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return 0, err
	}
	match := re.FindStringSubmatch(source)
	if len(match) < 2 {
		return 0, fmt.Errorf("nothing matches %q, or it has no group", pattern)
	}
	return strconv.ParseFloat(strings.ReplaceAll(match[1], ",", ""), 64)
}

// countMatches returns how often pattern matches.
func countMatches(pattern, source string) (float64, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return 0, err
	}
	return float64(len(re.FindAllStringIndex(source, -1))), nil
}

// jsonNumber returns the number at a path of gjson.
func jsonNumber(path, source string) (float64, error) {
	value := gjson.Get(source, path)
	if value.Type != gjson.Number {
		return 0, fmt.Errorf("no number at %q", path)
	}
	return value.Num, nil
}
