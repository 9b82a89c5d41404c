package evidence

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
)

// countPrescient counts the products that replies use in calls before any result can have shown
// them to the model, though the shop later returns them, and the replies with such a product. What
// counts is when a reply was requested, not when it ended.
func (a *Attempt) countPrescient() (products, replies int) {
	for i := range a.Log.Replies {
		r := &a.Log.Replies[i]
		before := products
		for j := range r.Named {
			for _, id := range r.Named[j].IDs {
				if a.wasShown(id) && !a.ShownBefore(id, r.Start) {
					products++
				}
			}
		}
		if products > before {
			replies++
		}
	}
	return products, replies
}

// ShownBefore reports whether the customer's request, or a result that ended before time in
// Unix milliseconds, contains the id. It is true if a result of that time was not recorded.
func (a *Attempt) ShownBefore(id string, time float64) bool {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.End > time+a.Log.Slack {
			continue
		}
		if d.unrecorded || slices.Contains(d.products, id) || strings.Contains(string(a.responseTo(d)), id) {
			return true
		}
	}
	return strings.Contains(a.query, id)
}

// responseTo returns the answer to a logged request to the shop: from the log or, if the log
// lacks it, from the dialogue. It is empty if both lack it.
func (a *Attempt) responseTo(d *Dispatch) arena.Raw {
	if d.Call.Response == "" && d.Claimed >= 0 {
		return a.Claims[d.Claimed].Call.Result
	}
	return d.Call.Response
}

// wasShown reports whether any logged request of the attempt returned the product.
func (a *Attempt) wasShown(id string) bool {
	return slices.ContainsFunc(a.Log.Dispatches, func(d Dispatch) bool {
		return slices.Contains(d.products, id)
	})
}

// collectShown sets the products that each answered dispatch (logged request) returned: those
// in its logged answer, those that the log kept of a truncated answer, or those in the
// dialogue. It marks the dispatch as unrecorded if there are none of these.
func (a *Attempt) collectShown() {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		switch {
		case !isAnswered(d.Call):
		case d.Act.Tool == ToolView:
			d.products = a.viewedProducts(d)
		case d.verbatim:
			d.products = a.Claims[d.Claimed].Shown
		case d.Call.Response != "":
			d.products = a.scratch.readListing(d.Call.Response).Shown
		case d.Call.ProductIDs != nil:
			d.products = d.Call.ProductIDs
		case d.Claimed >= 0:
			d.products = a.Claims[d.Claimed].Shown
		default:
			d.unrecorded = true
		}
	}
}

// viewedProducts returns the products whose details a logged request returned. These are the
// requested ones that its answer contains, since the shop returns nothing for an unknown
// product; or all requested ones if the answer was not recorded.
func (a *Attempt) viewedProducts(d *Dispatch) []string {
	answer := a.responseTo(d)
	if answer == "" {
		return d.Act.IDs
	}
	var listed []string
	if d.Call.Response == "" {
		listed = a.Claims[d.Claimed].Shown
	}
	return a.scratch.filterShown(d.Act.IDs, listed, answer)
}

// countInvented counts the products in calls of the dialogue that neither an earlier result nor
// the customer's request contains. named counts those of them that a reply contains in a call,
// which the model hallucinated itself.
func (a *Attempt) countInvented() (invented, named int) {
	for i := range a.Claims {
		c := &a.Claims[i]
		if !c.Act.Tool.TakesProducts() {
			continue
		}
		for _, id := range c.Act.IDs {
			if a.KnownBefore(id, i) {
				continue
			}
			invented++
			namesProduct := func(n Act) bool { return slices.Contains(n.IDs, id) }
			isNamed := slices.ContainsFunc(a.Log.Replies, func(r Reply) bool {
				return slices.ContainsFunc(r.Named, namesProduct)
			})
			if isNamed {
				named++
			}
		}
	}
	return invented, named
}

// KnownBefore reports whether the customer's request, a result before this claim (call of the
// dialogue), or any logged answer contains the id. It is true if an answer was not recorded.
func (a *Attempt) KnownBefore(id string, claim int) bool {
	for i := claim - 1; i >= 0; i-- {
		if slices.Contains(a.Claims[i].Shown, id) {
			return true
		}
	}
	unrecorded := func(d Dispatch) bool { return d.unrecorded }
	return slices.ContainsFunc(a.Log.Dispatches, unrecorded) ||
		a.wasShown(id) || strings.Contains(a.query, id)
}

// joinStream returns the complete answer of a model that was recorded as a stream: as
// server-sent events (`data: {…}` lines), or as a JSON list of their objects. It returns any
// other text, and a stream without an end, unchanged.
func joinStream(body string) string {
	trimmed := strings.TrimLeft(body, blanks)
	if !strings.HasPrefix(trimmed, "[") {
		return string(model.JoinStream([]byte(body)))
	}
	var events strings.Builder
	for _, piece := range gjson.Parse(trimmed).ForEach {
		events.WriteString("data: " + strings.ReplaceAll(piece.Raw, "\n", " ") + "\n")
	}
	return string(model.JoinStream([]byte(events.String() + "data: [DONE]\n")))
}
