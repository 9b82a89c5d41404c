package rewrite

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/filters/evidence"
	"github.com/trajectory-arena/arena/internal/python"
	"github.com/trajectory-arena/arena/shop"
)

// reasonCut is the reason why an attempt with an incomplete result is not rewritten.
const reasonCut = "cut_result" // a result is incomplete, and the shop's answer does not agree with the log

// restoreResults replaces each missing or truncated tool result in turns by that of the same call,
// made again in the shop. It returns the number of replaced results. ok is false if the shop's
// answers do not agree with the proxy's log (the record of the attempt's requests); turns may then
// be changed.
func (w *work) restoreResults(
	ctx context.Context,
	t *arena.Trace,
	turns []arena.Turn,
) (replayed int, ok bool, err error) {
	if !slices.ContainsFunc(turns, func(t arena.Turn) bool { return slices.ContainsFunc(t.Calls, isCut) }) {
		return 0, true, nil
	}
	if err = w.openShops(ctx); err != nil {
		return 0, false, err
	}
	a := evidence.Examine(
		t,
		&arena.Dialogue{Turns: turns},
		evidence.HarnessTools(w.harness.Name, nil),
	)
	defer a.Release()
	for i, claim := range a.Claims {
		if !isCut(*claim.Call) {
			continue
		}
		claim.Call.Result = w.replay(ctx, a, i)
		if claim.Call.Result == "" {
			return 0, false, nil
		}
		replayed++
	}
	return replayed, true, nil
}

// openShops opens a shop with a search index for each product catalogue of the sources, and sets
// w.shops. It does nothing if they are open.
func (w *work) openShops(ctx context.Context) (err error) {
	if len(w.shops) > 0 {
		return nil
	}
	if w.tools, err = shop.ToolNames(w.harness.Name); err != nil {
		return err
	}
	for _, path := range w.day.Catalogs() {
		c, err := shop.Open(ctx, path, "")
		if err != nil {
			return err
		}
		w.shops = append(w.shops, shop.Local{Catalog: c, Rules: shop.SubnetRules})
	}
	return nil
}

func (w *work) close() error {
	err := w.day.Close()
	for _, s := range w.shops {
		err = errors.Join(err, s.Catalog.Close())
	}
	return err
}

// replay executes a tool call of the attempt again in the shops and returns the result as JSON. claim
// is the index of the call in a.Claims, the list of calls in the attempt's dialogue. It returns ""
// if no shop's answers agree with the proxy's log, the record of the attempt's requests.
func (w *work) replay(
	ctx context.Context,
	a *evidence.Attempt,
	claim int,
) arena.Raw {
	c := a.Claims[claim].Call
	act := &a.Claims[claim].Act
	several := act.Tool != evidence.ToolFind && act.Tool != evidence.ToolView
	arguments, err := python.Loads(string(c.Arguments))
	if err != nil {
		return "" // no call of a tool: its result stays unknown
	}
	for _, local := range w.shops {
		l := &log{
			Local:    local,
			trusting: !a.Log.Present && recordedText(c.Result) != "",
		}
		for _, d := range a.Log.Dispatches {
			if d.Claimed == claim {
				l.records = append(l.records, d.Call)
				l.disagrees = l.disagrees || !several && !act.SameRequest(&d.Act)
			}
		}
		answer := shop.NewTools(l, local.Rules, w.tools).Call(ctx, c.Name, arguments)
		if !answer.Raised && !l.disagrees && len(l.records) == 0 && hasPrefix(answer.Result, recordedText(c.Result)) {
			return arena.Raw(python.AppendTight(nil, answer.Result))
		}
	}
	return ""
}

// recordedText returns a result as text, without surrounding white space: the text of a JSON
// string, the JSON of any other value. It returns "" if no result was recorded.
func recordedText(r arena.Raw) string {
	switch r.Kind() {
	case arena.String:
		return strings.TrimSpace(gjson.Parse(string(r)).Str)
	case arena.Null:
		return ""
	default:
		return strings.TrimSpace(string(r))
	}
}

// isCut reports whether the result of a call is missing, or is only the beginning of a list or an
// object.
func isCut(c arena.Call) bool {
	text := recordedText(c.Result)
	if text == "" {
		return true
	}
	isCutList := text[0] == '[' && !strings.HasSuffix(text, "]")
	isCutObject := text[0] == '{' && !strings.HasSuffix(text, "}")
	return isCutList || isCutObject
}

// hasPrefix reports whether text is the beginning of answer, in one of the forms in which Python
// clients write values. Dots at the end of text are ignored, since they replace the missing part.
func hasPrefix(answer python.Value, text string) bool {
	text = strings.TrimRight(text, ".… ")
	forms := []string{
		python.Dumps(answer),
		string(python.AppendTight(nil, answer)),
		string(python.Canonical(answer)),
		python.Repr(answer),
	}
	return slices.ContainsFunc(forms, func(form string) bool { return strings.HasPrefix(form, text) })
}

// log answers the requests of a tool call that is made again: from the proxy's log (the record of
// the attempt's requests) if that has the complete answer, and otherwise from the shop. It records
// whether the shop's answers agree with the log.
type log struct {
	shop.Local
	// records are the logged requests of the call that have not been repeated yet.
	records []*arena.ProxyCall
	// trusting reports whether the attempt has no log, so that the shop's answers cannot be
	// checked.
	trusting bool
	// disagrees reports whether a request was not in the log, or the shop's answer differed from
	// the log.
	disagrees bool
}

// Get returns the answer to a request.
func (l *log) Get(
	ctx context.Context,
	path string,
	params python.Value,
) (python.Value, int, bool) {
	answer, status, ok := l.Local.Get(ctx, path, params)
	if l.trusting {
		return answer, status, ok
	}
	i := slices.IndexFunc(l.records, func(c *arena.ProxyCall) bool {
		return evidence.Endpoint(c.Path) == evidence.Endpoint(path)
	})
	if i < 0 {
		l.disagrees = true
		return python.Value{}, 0, false
	}
	c := l.records[i]
	l.records = slices.Delete(l.records, i, i+1)
	if logged, err := python.Loads(string(c.Response)); err == nil {
		return logged, c.Status, c.Status == http.StatusOK
	}
	l.disagrees = l.disagrees || !ok || !agrees(c, answer)
	return answer, status, ok
}

// agrees reports whether the shop's answer matches one that the log recorded as truncated. It must
// have the recorded length in bytes of its JSON and, for a search, the recorded product IDs.
func agrees(c *arena.ProxyCall, answer python.Value) bool {
	var ids []string
	for _, product := range answer.List {
		id, _ := product.Get("product_id")
		ids = append(ids, id.String())
	}
	return c.Truncated && (c.ItemIDs == nil || slices.Equal(c.ItemIDs, ids)) && c.Length == len(python.Dumps(answer))
}
