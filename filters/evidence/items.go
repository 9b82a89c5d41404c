package evidence

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/model"
)

// countPrescient counts the items that calls in replies use before any result has shown them,
// although the tool server returns them later: the agent knew the answer. replies is the number of
// replies with such an item. Only results before the time at which the reply was requested count.
func (a *Attempt) countPrescient() (items, replies int) {
	for i := range a.Log.Replies {
		r := &a.Log.Replies[i]
		before := items
		for j := range r.Named {
			for _, id := range r.Named[j].IDs {
				if a.wasShown(id) && !a.ShownBefore(id, r.Start) {
					items++
				}
			}
		}
		if items > before {
			replies++
		}
	}
	return items, replies
}

// ShownBefore reports whether the id is in the customer's request or in a result that ended
// before time (Unix milliseconds). It also returns true if such a result was not recorded.
func (a *Attempt) ShownBefore(id string, time float64) bool {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		if d.End > time+a.Log.Slack {
			continue
		}
		if d.unrecorded || slices.Contains(d.items, id) || strings.Contains(string(a.responseTo(d)), id) {
			return true
		}
	}
	return strings.Contains(a.query, id)
}

// responseTo returns the answer to a logged request to the tool server: the logged one or, if the log
// lacks it, the one in the dialogue. It returns "" if both lack it.
func (a *Attempt) responseTo(d *Dispatch) arena.Raw {
	if d.Call.Response == "" && d.Claimed >= 0 {
		return a.Claims[d.Claimed].Call.Result
	}
	return d.Call.Response
}

// wasShown reports whether any answer of the tool server in the log contains the item with this id.
func (a *Attempt) wasShown(id string) bool {
	return slices.ContainsFunc(a.Log.Dispatches, func(d Dispatch) bool {
		return slices.Contains(d.items, id)
	})
}

// collectShown sets for each answered request to the tool server the items that its answer
// contained. They are read from the logged answer, from the ids that the log kept of a truncated
// answer, or from the dialogue. If there is none of these, the request is marked as unrecorded.
func (a *Attempt) collectShown() {
	for i := range a.Log.Dispatches {
		d := &a.Log.Dispatches[i]
		switch {
		case !isAnswered(d.Call):
		case d.Act.Tool == ToolView:
			d.items = a.viewedItems(d)
		case d.verbatim:
			d.items = a.Claims[d.Claimed].Shown
		case d.Call.Response != "":
			d.items = a.scratch.readListing(d.Call.Response).Shown
		case d.Call.ItemIDs != nil:
			d.items = d.Call.ItemIDs
		case d.Claimed >= 0:
			d.items = a.Claims[d.Claimed].Shown
		default:
			d.unrecorded = true
		}
	}
}

// viewedItems returns the items whose details a logged request returned: the requested
// ones that its answer contains, since the tool server returns nothing for an unknown item. If the
// answer was not recorded, it returns all requested ones.
func (a *Attempt) viewedItems(d *Dispatch) []string {
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

// countInvented counts the items in calls of the dialogue that nobody showed: they are in no
// earlier result, in no logged answer and not in the customer's request. named is the number of
// those that a call in a reply contains, so that the model itself made them up.
func (a *Attempt) countInvented() (invented, named int) {
	for i := range a.Claims {
		c := &a.Claims[i]
		if !c.Act.Tool.TakesIDs() {
			continue
		}
		for _, id := range c.Act.IDs {
			if a.KnownBefore(id, i) {
				continue
			}
			invented++
			namesItem := func(n Act) bool { return slices.Contains(n.IDs, id) }
			isNamed := slices.ContainsFunc(a.Log.Replies, func(r Reply) bool {
				return slices.ContainsFunc(r.Named, namesItem)
			})
			if isNamed {
				named++
			}
		}
	}
	return invented, named
}

// KnownBefore reports whether the id is in the customer's request, in a result before this call
// of the dialogue, or in any logged answer. It also returns true if an answer was not recorded.
func (a *Attempt) KnownBefore(id string, claim int) bool {
	for i := claim - 1; i >= 0; i-- {
		c := &a.Claims[i]
		// A result may repeat an id that its own call invented.
		isNew := !slices.Contains(c.Act.IDs, id)
		if slices.Contains(c.Shown, id) || isNew && strings.Contains(string(c.Call.Result), id) {
			return true
		}
	}
	unrecorded := func(d Dispatch) bool { return d.unrecorded }
	return slices.ContainsFunc(a.Log.Dispatches, unrecorded) ||
		a.wasShown(id) || strings.Contains(a.query, id)
}

// joinStream returns the complete answer of a model that was recorded as a stream, either of
// server-sent events (`data: {…}` lines) or as a JSON list of their objects. Any other text is
// returned unchanged, and so is a stream without an end.
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
