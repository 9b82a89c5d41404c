package evolai

import "fmt"

// Event is one step of a round: lock, seed or evaluate.
type Event struct {
	Epoch int64  `json:"epoch"`
	Event string `json:"event"`
	UID   int64  `json:"uid"`
	// Block is the block number at which the event happened, 0 if the file shows only the order.
	Block    int64  `json:"block"`
	Revision string `json:"revision"`
	// Seed is the seed of the set of rows that the event publishes or evaluates.
	Seed string `json:"seed"`
	// Set is the evaluated set, "current" or "next". Empty means "next".
	Set string `json:"set"`
}

// Violation is an event that breaks the order of a round.
type Violation struct {
	Line  int    `json:"line"`
	Epoch int64  `json:"epoch"`
	UID   int64  `json:"uid"`
	Why   string `json:"why"`
}

// order is the state for checking the order of events in a contest. In each epoch every model must
// be locked (its revision fixed) before the seed of the next set of evaluation rows is published,
// so that nobody can train on them, and be evaluated only after that. The next set of an epoch is
// the current set of the following epoch.
type order struct {
	epoch   int64
	block   int64
	seed    string           // of the epoch's next set, "" until it is published
	current string           // of the current set, "" if unknown
	locked  map[int64]string // revisions by uid

	evaluated map[[2]string]bool // by uid and set
}

// add applies an event of the contest (a model is locked, a seed is published or a model is
// evaluated) to the state. It returns why the rules forbid the event at this time, "" if they allow
// it.
func (o *order) add(e *Event) string {
	if o.locked == nil || e.Epoch > o.epoch {
		current := o.seed
		if o.locked != nil && e.Epoch != o.epoch+1 {
			current = ""
		}
		*o = order{
			epoch:     e.Epoch,
			block:     o.block,
			current:   current,
			locked:    map[int64]string{},
			evaluated: map[[2]string]bool{},
		}
	}
	switch {
	case e.Epoch < o.epoch:
		return fmt.Sprintf("epoch %d comes after %d", e.Epoch, o.epoch)
	case e.Block > 0 && e.Block < o.block:
		return fmt.Sprintf("block %d comes after %d", e.Block, o.block)
	}
	o.block = max(o.block, e.Block)
	switch e.Event {
	case "lock":
		return o.lock(e)
	case "seed":
		return o.publish(e)
	case "evaluate":
		return o.evaluate(e)
	default:
		return fmt.Sprintf("event %q is none of lock, seed and evaluate", e.Event)
	}
}

func (o *order) lock(e *Event) string {
	switch {
	case e.Revision == "":
		return "no revision is locked"
	case o.seed != "":
		return "locked after the seed was published: the revision may have been fitted to it"
	case o.locked[e.UID] != "" && o.locked[e.UID] != e.Revision:
		return "locked twice, to another revision"
	}
	o.locked[e.UID] = e.Revision
	return ""
}

func (o *order) publish(e *Event) string {
	switch {
	case e.Seed == "":
		return "no seed is published"
	case o.seed != "":
		return "a second seed in one epoch"
	case len(o.locked) == 0:
		return "the seed is published before any revision is locked"
	case e.Seed == o.current:
		return "the seed is that of the epoch before: miners have seen its rows"
	}
	o.seed = e.Seed
	return ""
}

func (o *order) evaluate(e *Event) string {
	set := e.Set
	seed := o.seed
	if set == "" {
		set = "next"
	}
	if set == "current" {
		seed = o.current
	}
	key := [2]string{fmt.Sprint(e.UID), set}
	switch {
	case set != "current" && set != "next":
		return fmt.Sprintf("set %q is neither current nor next", set)
	case o.seed == "":
		return "evaluated before the seed was published"
	case o.locked[e.UID] == "":
		return "evaluated without a locked revision"
	case o.locked[e.UID] != e.Revision:
		return fmt.Sprintf("revision %q is evaluated, %q is locked", e.Revision, o.locked[e.UID])
	case seed != "" && e.Seed != seed:
		return fmt.Sprintf("evaluated on seed %q, the %s set has %q", e.Seed, set, seed)
	case o.evaluated[key]:
		return "evaluated twice on one set"
	}
	o.evaluated[key] = true
	return ""
}
