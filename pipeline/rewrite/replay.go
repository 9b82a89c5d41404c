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

// reasonCut is why an attempt with a cut result is not asked about.
const reasonCut = "cut_result" // a result is cut, and the shop's own answer is not what the log holds of it

// whole puts the answer of the call, played again, in the place of each cut result of an
// attempt, and counts them; ok is false where one is not what the log holds.
func (w *work) whole(
	ctx context.Context,
	t *arena.Trace,
	turns []arena.Turn,
) (played int, ok bool, err error) {
	if !slices.ContainsFunc(turns, func(t arena.Turn) bool { return slices.ContainsFunc(t.Calls, cut) }) {
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
		if !cut(*claim.Call) {
			continue
		}
		if claim.Call.Result = w.again(ctx, a, i); claim.Call.Result == "" {
			return 0, false, nil
		}
		played++
	}
	return played, true, nil
}

// openShops builds the index of each catalogue the first time that a call is played again.
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
		w.shops = append(w.shops, shop.Local{
			Catalog: c,
			Rules:   shop.SubnetRules,
		})
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

// again is what the call of a claim returns in the shop of a day; empty where none
// answers what the log holds.
func (w *work) again(
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
			trusting: !a.Log.Present && held(c.Result) != "",
		}
		for _, d := range a.Log.Dispatches {
			if d.Claimed == claim {
				l.records = append(l.records, d.Call)
				l.disagrees = l.disagrees || !several && !act.SameRequest(&d.Act)
			}
		}
		answer := shop.NewTools(l, local.Rules, w.tools).Call(ctx, c.Name, arguments)
		if !answer.Raised && !l.disagrees && len(l.records) == 0 && begins(answer.Result, held(c.Result)) {
			return arena.Raw(python.AppendTight(nil, answer.Result))
		}
	}
	return ""
}

// held is a result as the client wrote it down; empty where it did not.
func held(r arena.Raw) string {
	switch r.Kind() {
	case arena.String:
		return strings.TrimSpace(gjson.Parse(string(r)).Str)
	case arena.Null:
		return ""
	default:
		return strings.TrimSpace(string(r))
	}
}

// cut reports whether a result was not written down, or only how a list or an object
// begins.
func cut(c arena.Call) bool {
	text := held(c.Result)
	return text == "" || text[0] == '[' && !strings.HasSuffix(text, "]") || text[0] == '{' && !strings.HasSuffix(text, "}")
}

// begins reports whether an answer begins with a text, in one of the forms in which
// Python's clients write it. Dots at the end of the text say that more followed.
func begins(answer python.Value, text string) bool {
	text = strings.TrimRight(text, ".… ")
	forms := []string{
		python.Dumps(answer),
		string(python.AppendTight(nil, answer)),
		string(python.AppendCanonical(nil, answer)),
		python.Repr(answer),
	}
	return slices.ContainsFunc(forms, func(form string) bool {
		return strings.HasPrefix(form, text)
	})
}

// log answers the requests of a call as the proxy's log says: with the answer where the
// log has it whole, else with the shop's if that agrees with what was noted of it.
type log struct {
	shop.Local
	// records are the requests of the call that are not answered yet.
	records []*arena.ProxyCall
	// trusting takes the shop's answer: the attempt has no such log at all.
	trusting bool
	// disagrees reports whether a request had no answer.
	disagrees bool
}

// Get answers a request.
func (l *log) Get(
	ctx context.Context,
	path string,
	params python.Value,
) (python.Value, int, bool) {
	answer, status, ok := l.Local.Get(ctx, path, params)
	if l.trusting {
		return answer, status, ok
	}
	at := slices.IndexFunc(l.records, func(c *arena.ProxyCall) bool {
		return evidence.Endpoint(c.Path) == evidence.Endpoint(path)
	})
	if at < 0 {
		l.disagrees = true
		return python.Value{}, 0, false
	}
	c := l.records[at]
	l.records = slices.Delete(l.records, at, at+1)
	if whole, err := python.Loads(string(c.Response)); err == nil {
		return whole, c.Status, c.Status == http.StatusOK
	}
	l.disagrees = l.disagrees || !ok || !agrees(c, answer)
	return answer, status, ok
}

// agrees reports whether an answer has the length in characters and, of a search, the
// products that the log noted of the one that it cut.
func agrees(c *arena.ProxyCall, answer python.Value) bool {
	var ids []string
	for _, product := range answer.List {
		id, _ := product.Get("product_id")
		ids = append(ids, id.String())
	}
	return c.Truncated && (c.ProductIDs == nil || slices.Equal(c.ProductIDs, ids)) && c.Length == len(python.Dumps(answer))
}
