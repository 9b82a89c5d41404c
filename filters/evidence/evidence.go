package evidence

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
)

// countPrescient counts products that a reply named before it can have read of
// them, and that the shop then turned out to have; by is how many replies did.
// A reply reads what was there when it was asked for, not when it ended.
func (a *Attempt) countPrescient() (n, by int) {
	for _, r := range Each(a.Log.Replies) {
		before := n
		for j := range r.Named {
			for _, id := range r.Named[j].IDs {
				n += int(Flag(a.shown(id) && !a.ShownBefore(id, r.Start)))
			}
		}
		by += int(Flag(n > before))
	}
	return n, by
}

// ShownBefore reports whether the request or a result that came before the moment
// held this id.
func (a *Attempt) ShownBefore(id string, at float64) bool {
	for _, d := range Each(a.Log.Dispatches) {
		if d.End <= at+a.Log.Slack && (d.blind || slices.Contains(d.shown, id) || strings.Contains(string(a.returnedBy(d)), id)) {
			return true
		}
	}
	return strings.Contains(a.Query, id)
}

// returnedBy is what a dispatch returned, by the log or, where that kept nothing, by
// the dialogue.
func (a *Attempt) returnedBy(d *Dispatch) arena.Raw {
	if d.Call.Response == "" && d.Claimed >= 0 {
		return a.Claims[d.Claimed].Call.Result
	}
	return d.Call.Response
}

func (a *Attempt) shown(id string) bool {
	return slices.ContainsFunc(a.Log.Dispatches, func(d Dispatch) bool { return slices.Contains(d.shown, id) })
}

// show notes which ids each dispatch returned: those in its answer, those the
// log kept of a cut one, or what the dialogue shows for it.
func (a *Attempt) show() {
	for _, d := range Each(a.Log.Dispatches) {
		switch {
		case !answered(d.Call):
		case d.Act.Tool == ToolView:
			d.shown = a.details(d)
		case d.verbatim:
			d.shown = a.Claims[d.Claimed].Shown
		case d.Call.Response != "":
			d.shown = a.Pad.List(d.Call.Response).Shown
		case d.Call.ProductIDs != nil:
			d.shown = d.Call.ProductIDs
		case d.Claimed >= 0:
			d.shown = a.Claims[d.Claimed].Shown
		default:
			d.blind = true
		}
	}
}

// details are the products whose details a dispatch returned: those asked for
// that its answer holds, since who asks for a product that does not exist gets
// nothing; all of them where nobody kept the answer.
func (a *Attempt) details(d *Dispatch) []string {
	answer, shown := a.returnedBy(d), []string(nil)
	if answer == "" {
		return d.Act.IDs
	}
	if d.Call.Response == "" {
		shown = a.Claims[d.Claimed].Shown
	}
	return a.Pad.held(d.Act.IDs, shown, answer)
}

// countInvented counts products that calls of the dialogue name although no
// result before them, nor the request, held them. named counts those of them
// that a reply named itself: the model's own hallucination.
func (a *Attempt) countInvented() (invented, named int) {
	for i, c := range Each(a.Claims) {
		if !c.Act.Tool.TakesProducts() {
			continue
		}
		for _, id := range c.Act.IDs {
			if a.Known(id, i) {
				continue
			}
			names := func(n Act) bool { return slices.Contains(n.IDs, id) }
			invented++
			named += int(Flag(slices.ContainsFunc(a.Log.Replies, func(r Reply) bool { return slices.ContainsFunc(r.Named, names) })))
		}
	}
	return invented, named
}

// Known reports whether the request, or a result before claim i, held the id; most
// ids come from the newest results.
func (a *Attempt) Known(id string, i int) bool {
	for j := i - 1; j >= 0; j-- {
		if slices.Contains(a.Claims[j].Shown, id) {
			return true
		}
	}
	blind := func(d Dispatch) bool { return d.blind }
	return slices.ContainsFunc(a.Log.Dispatches, blind) || a.shown(id) || strings.Contains(a.Query, id)
}

// streamed joins an answer that the log kept as the pieces in which the server
// sent it: server-sent events (`data: {…}` lines), or a list of such objects.
// What is no stream, or none to its end, comes back as it is.
func streamed(body string) string {
	if trimmed := strings.TrimLeft(body, blanks); strings.HasPrefix(trimmed, "[") {
		var events strings.Builder
		for _, piece := range gjson.Parse(trimmed).ForEach {
			events.WriteString("data: " + strings.ReplaceAll(piece.Raw, "\n", " ") + "\n")
		}
		return string(model.JoinStream([]byte(events.String() + "data: [DONE]\n")))
	}
	return string(model.JoinStream([]byte(body)))
}
