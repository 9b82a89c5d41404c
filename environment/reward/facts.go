package reward

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// facts are the counts of an attempt that its parts and flags are computed from.
type facts struct {
	attempt *Attempt
	calls   []arena.Call
	// thoughts and texts are what the model wrote, queries its searches.
	thoughts []string
	texts    []string
	queries  []string
	// recommended are the products of the last recommendation.
	recommended []string
	// named counts the different ids in calls, invented those that no tool had shown.
	named    int
	invented int
	repeated int
	replies  int
	// goldShown is the share of the wanted products that a tool has shown.
	goldShown float64

	// Sets of the ids that tools have shown, the ids in calls, and the calls so far.
	shownIDs  map[string]bool
	namedIDs  map[string]bool
	callForms map[string]bool
}

func measureFacts(a *Attempt) *facts {
	f := &facts{
		attempt:   a,
		shownIDs:  map[string]bool{},
		namedIDs:  map[string]bool{},
		callForms: map[string]bool{},
	}
	for i := range a.Dialogue.Turns {
		t := &a.Dialogue.Turns[i]
		if t.User != "" {
			continue
		}
		f.replies++
		f.thoughts = append(f.thoughts, t.Think)
		f.texts = append(f.texts, t.Text)
		for _, c := range t.Calls {
			f.addCall(c)
		}
	}

	shown := 0
	for _, r := range a.Problem.Rewards {
		if f.shownIDs[r.ProductID] {
			shown++
		}
	}
	f.goldShown = ratio(shown, len(a.Problem.Rewards))
	return f
}

// addCall counts a call, and then the products that its result shows.
func (f *facts) addCall(c arena.Call) {
	form := canonicalCall(c)
	if f.callForms[form] {
		f.repeated++
	}
	f.callForms[form] = true
	f.calls = append(f.calls, c)

	for _, id := range calls.Products(c.Arguments) {
		if f.namedIDs[id] {
			continue
		}
		f.namedIDs[id] = true
		f.named++
		if !f.shownIDs[id] {
			f.invented++
		}
	}
	if ids := calls.Recommended(c); len(ids) > 0 {
		f.recommended = ids
		return // its result only repeats the products of the call
	}
	if q := gjson.Get(string(c.Arguments), "q"); q.Type == gjson.String {
		f.queries = append(f.queries, q.Str)
	}
	addProducts(gjson.Parse(string(c.Result)), f.shownIDs, maxDepth)
}

// maxDepth is the maximum depth at which a result is searched for products; results of the
// shop have a depth of four.
const maxDepth = 16

// addProducts adds the products of a result to ids. Some formats encode results as JSON in
// a string.
func addProducts(v gjson.Result, ids map[string]bool, depth int) {
	if depth == 0 {
		return
	}
	if v.Type == gjson.String {
		inner := strings.TrimSpace(v.Str)
		isContainer := strings.HasPrefix(inner, "[") || strings.HasPrefix(inner, "{")
		if isContainer && gjson.Valid(inner) {
			addProducts(gjson.Parse(inner), ids, depth-1)
		}
		return
	}
	for key, e := range v.ForEach {
		if key.Str == "product_id" {
			ids[strings.Clone(e.String())] = true
		} else if e.IsObject() || e.IsArray() {
			addProducts(e, ids, depth-1)
		}
	}
}

// canonicalCall returns a form of a call in which the blanks, the order and the types of
// its arguments do not matter: the shop accepts "1" for 1, and a student must not hide
// repeated calls by such changes.
func canonicalCall(c arena.Call) string {
	var members []string
	for k, v := range gjson.Parse(string(c.Arguments)).ForEach {
		members = append(members, k.String()+"="+v.String())
	}
	slices.Sort(members)
	return c.Name + "\n" + strings.Join(members, "\n")
}

// The flags.
const (
	FlagRecommendsMany = "recommends_everything" // more products than the request needs
	FlagEchoes         = "echoes_request"        // all searches are the request itself
	FlagOrders         = "order_to_judge"        // instructions to a grader
	FlagThoughtCall    = "call_only_in_thought"  // a recommendation in a thought that was not called
)

// graderOrders matches instructions to a grader: that it give, return or assign a score.
var graderOrders = regexp.MustCompile(`(?i)\b(?:give|assign|return|output|set|rate|grade|award)\b[^.\n]{0,40}` +
	`\b(?:scores?|reward|grade|rating|points)\b[^.\n]{0,30}(?:\b[01]\.\d|\b1\b|\b10\b|maximum|highest|full|perfect)` +
	`|\bas (?:the|a) (?:judge|grader|evaluator)\b`)

// flags returns the flags of the attempt.
func (f *facts) flags() []string {
	var flags []string
	if len(f.recommended) > max(1, len(f.attempt.Problem.Rewards)) {
		flags = append(flags, FlagRecommendsMany)
	}
	if f.echoesRequest() {
		flags = append(flags, FlagEchoes)
	}
	if graderOrders.MatchString(strings.Join(slices.Concat(f.thoughts, f.texts), "\n")) {
		flags = append(flags, FlagOrders)
	}
	if f.onlyThinksRecommendation() {
		flags = append(flags, FlagThoughtCall)
	}
	return flags
}

// echoesRequest reports whether there are searches, and all are the request itself.
func (f *facts) echoesRequest() bool {
	request := foldText(f.attempt.Problem.Query)
	differs := func(query string) bool { return foldText(query) != request }
	return len(f.queries) > 0 && !slices.ContainsFunc(f.queries, differs)
}

// foldText returns a text in lower case with single blanks.
func foldText(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(s)), " ")
}

// onlyThinksRecommendation reports whether a thought contains a recommendation, and no call
// recommends anything.
func (f *facts) onlyThinksRecommendation() bool {
	if len(f.recommended) > 0 {
		return false
	}
	isRecommendation := func(c arena.Call) bool { return c.Name == calls.Recommend }
	return slices.ContainsFunc(f.thoughts, func(thought string) bool {
		return slices.ContainsFunc(calls.Mended(thought).Calls, isRecommendation)
	})
}
