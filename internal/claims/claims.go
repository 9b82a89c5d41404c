// Package claims checks sentences with numbers in documentation against the data from which the
// numbers were measured.
package claims

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/jsonl"
	plaintext "github.com/trajectory-arena/arena/internal/text"
)

// Claim is a sentence of a page that contains a number.
type Claim struct {
	// What names the measured quantity. Claims about the same quantity must agree.
	What     string `json:"what"`
	Page     string `json:"page"`
	Sentence string `json:"sentence"`
	// Source is the file from which Formula computes the value. Formula is in the Common
	// Expression Language: number(re) is the first group of the first match, count(re) the
	// number of matches of re, and json(path) a value by gjson's path.
	Source  string  `json:"source"`
	Formula string  `json:"formula"`
	Value   float64 `json:"value"`
	// Tolerance is the maximum difference between Value and the computed value.
	Tolerance float64 `json:"tolerance"`
}

// The outcomes of checking a claim.
const (
	Holds       = "holds"
	Differs     = "does not hold"
	Unchecked   = "cannot be checked"
	Contradicts = "contradicts another"
)

// Finding is the result of checking a claim. Why is the reason if the claim does not hold.
type Finding struct {
	Claim   Claim
	Outcome string
	Why     string
}

// Check reads claims, one JSON object per line, and checks each against its page and source.
// Pages and sources must be within folder, also after following links.
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
	b, err := plaintext.ReadAll(f, maxBytes)
	return string(b), err
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

var number = regexp.MustCompile(`\d[\d,]*(\.\d+)?`)

// says reports whether a sentence contains the number value, or 100 times value, as a percentage is
// written.
func says(sentence string, value float64) bool {
	for _, text := range number.FindAllString(sentence, -1) {
		n, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
		if err == nil && (n == value || math.Abs(n-float64(100*value)) < 1e-9) {
			return true
		}
	}
	return false
}

func evaluate(formula, source string) (float64, error) {
	env, err := cel.NewEnv(
		function("number", func(re string) (float64, error) {
			m := regexp.MustCompile(re).FindStringSubmatch(source)
			if len(m) < 2 {
				return 0, fmt.Errorf("nothing matches %q, or it has no group", re)
			}
			return strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		}),
		function("count", func(re string) (float64, error) {
			return float64(len(regexp.MustCompile(re).FindAllStringIndex(source, -1))), nil
		}),
		function("json", func(path string) (float64, error) {
			v := gjson.Get(source, path)
			if v.Type != gjson.Number {
				return 0, fmt.Errorf("no number at %q", path)
			}
			return v.Num, nil
		}))
	if err != nil {
		return 0, err
	}
	ast, issues := env.Compile(formula)
	if issues.Err() != nil {
		return 0, fmt.Errorf("formula %q: %w", formula, issues.Err())
	}
	program, err := env.Program(ast, cel.CostLimit(1e6))
	if err != nil {
		return 0, err
	}
	out, _, err := program.Eval(map[string]any{})
	if err != nil {
		return 0, err
	}
	value, ok := out.Value().(float64)
	if !ok {
		return 0, fmt.Errorf("formula %q gives no number with a decimal point", formula)
	}
	return value, nil
}

func function(name string, of func(string) (float64, error)) cel.EnvOption {
	return cel.Function(name, cel.Overload(name+"_string", []*cel.Type{cel.StringType}, cel.DoubleType,
		cel.UnaryBinding(func(arg ref.Val) ref.Val {
			text := arg.Value().(string)
			if _, err := regexp.Compile(text); err != nil && name != "json" {
				return types.NewErr("%v", err)
			}
			f, err := of(text)
			if err != nil {
				return types.NewErr("%v", err)
			}
			return types.Double(f)
		})))
}
