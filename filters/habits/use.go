package habits

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
)

// Use is what the formula use_v1 of adaptivity needs of one attempt. It asks nothing of the roles of
// tools, so that it works in every domain.
type Use struct {
	_ struct{} `cbor:",toarray"`
	// Calls counts the calls, and among them those with a value that only an earlier result had.
	Calls Ratio
	// Order has one mark, whose value is a hash of the tools in their order. Its group is the number
	// of calls, since attempts with as many calls are compared. It is empty without calls.
	Order []Mark
}

// minValue is the minimum number of bytes of a word that counts as a value. Shorter words are in
// most texts.
const minValue = 4

// UseOf returns how the calls of an attempt depend on its results.
//
// A value is a word of an argument. It comes from a result if an earlier result of the attempt has
// it, and nothing else that the agent read or wrote before that result does: system prompt, tool
// definitions, request, turns of the user, replies and arguments. A value that the user writes later
// no longer comes from a result.
//
// If no reply of the attempt calls a tool, the last fenced block of a reply is a command of a shell,
// and the user's next turn is its result. Models that are given no tools write commands so.
func UseOf(t *arena.Trace, d *arena.Dialogue) Use {
	u := uses{fromResult: map[uint64]bool{}}
	for _, text := range [...]string{t.System, string(t.Tools), t.Query} {
		u.read(text)
	}
	hasCalls := slices.ContainsFunc(d.Turns, func(turn arena.Turn) bool { return len(turn.Calls) > 0 })
	isResult := false // whether the user's next turn is the result of a command
	for i := range d.Turns {
		turn := &d.Turns[i]
		if isResult {
			u.add(turn.User, true)
		} else {
			u.read(turn.User)
		}
		u.add(turn.Think, false)
		u.add(turn.Text, false)
		for j := range turn.Calls {
			u.call(turn.Calls[j].Name, gjson.Parse(string(turn.Calls[j].Arguments)))
		}
		for j := range turn.Calls { // all calls of a turn are written before its results
			u.add(turn.Calls[j].Result.Text(), true)
		}
		command, ok := lastBlock(turn.Text)
		if isResult = ok && !hasCalls; isResult {
			u.call("", gjson.Parse(`{"command":`+string(arena.Quote(command))+`}`))
		}
	}
	if u.use.Calls.Whole > 0 {
		u.use.Order = []Mark{{Group: uint64(u.use.Calls.Whole), Value: u.order}}
	}
	return u.use
}

// lastBlock returns the last fenced block of a text, without the line of its language.
func lastBlock(s string) (block string, ok bool) {
	parts := strings.Split(s, "```")
	if len(parts) < 3 {
		return "", false
	}
	_, block, ok = strings.Cut(parts[(len(parts)-1)/2*2-1], "\n")
	return block, ok
}

// uses reads an attempt in its order.
type uses struct {
	// fromResult has every value that was read so far, and whether a result had it first.
	fromResult map[uint64]bool
	order      uint64
	use        Use
}

// read adds a text that is given to the agent.
func (u *uses) read(text string) {
	eachValue(text, func(word uint64) { u.fromResult[word] = false })
}

// add adds a result, or a text that the agent wrote. Values that were read before stay as they are.
func (u *uses) add(text string, isResult bool) {
	eachValue(text, func(word uint64) {
		if _, ok := u.fromResult[word]; !ok {
			u.fromResult[word] = isResult
		}
	})
}

func (u *uses) call(name string, arguments gjson.Result) {
	isUse := false
	eachString(arguments, func(text string) {
		eachValue(text, func(word uint64) { isUse = isUse || u.fromResult[word] })
		u.add(text, false)
	})
	u.use.Calls.add(isUse)
	u.order = evidence.Mix(u.order, toolOf(name, arguments))
}

// toolOf returns a hash of a call's tool. A shell is many tools, so that the first word of the argument
// command belongs to the tool.
func toolOf(name string, arguments gjson.Result) uint64 {
	tool := evidence.HashText(name)
	for word := range evidence.Words(arguments.Get("command").String()) {
		return evidence.Mix(tool, word)
	}
	return tool
}

// eachString calls f for every string and number in a JSON value, at any depth. Keys are no values.
func eachString(v gjson.Result, f func(string)) {
	if !v.IsObject() && !v.IsArray() {
		f(v.String())
		return
	}
	for _, inner := range v.ForEach {
		eachString(inner, f)
	}
}

func eachValue(text string, f func(word uint64)) {
	for i := 0; i < len(text); {
		word, n := evidence.NextWord(text[i:])
		if n >= minValue {
			f(word)
		}
		i += max(n, 1)
	}
}

// usedResults sums the Use of an agent's attempts.
type usedResults struct {
	calls Ratio
	order modeCounter
}

func (r *usedResults) add(u *Use) {
	r.calls.Part += u.Calls.Part
	r.calls.Whole += u.Calls.Whole
	r.order.add(u.Order)
}

// estimate returns the agent's adaptivity by the formula use_v1: the smaller of two shares, that of
// the calls with a value that only an earlier result had, and that of the attempts whose order of tools
// is not the most frequent one for their number of calls. An attempt without another of as many calls
// is left out of the second. It returns nil if fewer than minAttempts attempts can be compared.
func (r *usedResults) estimate(minAttempts int) *Estimate {
	same := r.order.ratio()
	if same.Whole < minAttempts {
		return nil
	}
	estimate := minEstimate(r.calls.ramp(0, 1), same.ramp(0, 1).complement())
	return &estimate
}
