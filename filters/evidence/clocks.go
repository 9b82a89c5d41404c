package evidence

import "math"

// causal are the moments of the replies by order alone, whatever their clock says:
// each just before the first dispatch it names that no reply before it took, one
// that names none just before the next. fits reports whether one that can be read does;
// apart whether one was asked for before the result that it follows, or after the
// dispatch that it names: what only began before its reply ended is a stream's, or
// clocks' that differ a little.
func (a *Attempt) causal() (replied []span, fits, apart bool) {
	replied = make([]span, len(a.Log.Replies))
	next := 0
	for i := range replied {
		replied[i].Start = math.NaN()
		for j := next; j < len(a.Log.Dispatches) && (j == next || a.Log.Replies[i].readable); j++ {
			if !a.asks(i, &a.Log.Dispatches[j]) {
				continue
			}
			before := a.Log.Dispatches[j].Start - a.Log.Slack - 1
			replied[i] = span{before, before}
			fits = fits || a.Log.Replies[i].readable
			apart = apart || a.moves(i, j)
			next = j + 1
			break
		}
	}
	after := span{math.MaxFloat64, math.MaxFloat64}
	for i := len(replied) - 1; i >= 0; i-- {
		if math.IsNaN(replied[i].Start) {
			replied[i] = after
		}
		after = replied[i]
	}
	last := len(replied) - 1
	return replied, fits, apart || replied[last].Start == math.MaxFloat64 && a.moves(last, len(a.Log.Dispatches))
}

// moves reports whether a reply that belongs between dispatch j and the one before
// it was not asked for in that time.
func (a *Attempt) moves(reply, j int) bool {
	r, all := &a.Log.Replies[reply], a.Log.Dispatches
	return j < len(all) && r.Start > all[j].Start+a.Log.Slack || j > 0 && r.Start+a.Log.Slack < all[j-1].End
}

// asks reports whether a reply names a dispatch, holds its words where none names any,
// or cannot be read and no later one asks.
func (a *Attempt) asks(reply int, d *Dispatch) bool {
	r := &a.Log.Replies[reply]
	if !r.readable {
		for later := reply + 1; later < len(a.Log.Replies); later++ {
			if a.Log.Replies[later].readable && a.asks(later, d) {
				return false
			}
		}
		return true
	}
	for i := range r.Named {
		named := &r.Named[i]
		for _, try := range binding {
			if try.same(named, &d.Act) {
				return true
			}
		}
		if follows(named, &d.Act) {
			return true
		}
	}
	return a.Log.nameless() && a.says(reply, &d.Act, nil) // which list was the newest, only times tell
}
