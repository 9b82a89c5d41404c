package evidence

import "slices"

// linkChoices sets the link of requests that a client chose from a list to unknown: a reply called
// one tool several times, and the client carried out a later call without the earlier ones. The
// model then did not decide which call was sent. A client that takes the first calls of a list, or
// that leaves out a call whose result it already has, chooses nothing. Several answers to one
// request are no such list: clients take the call that most of them agree on.
func (l *ProxyLog) linkChoices() {
	for i := range l.Replies {
		if l.Replies[i].MultipleChoices {
			continue
		}
		named := l.Replies[i].Named
		for j := 1; j < len(named); j++ {
			if !named[j].Started {
				continue
			}
			isPassedOver := func(earlier Act) bool { return l.isPassedOver(&earlier, &named[j], i) }
			if slices.ContainsFunc(named[:j], isPassedOver) {
				l.unlinkReply(i)
				break
			}
		}
	}
}

// isPassedOver reports whether a call in reply i was not carried out, although sent, a later call of
// the same reply to the same tool, was.
func (l *ProxyLog) isPassedOver(earlier, sent *Act, reply int) bool {
	if earlier.Started || earlier.Tool != sent.Tool || earlier.name != sent.name {
		return false
	}
	return !slices.ContainsFunc(l.Dispatches, func(d Dispatch) bool {
		return d.LastReply <= reply && earlier.SameRequest(&d.Act)
	})
}

// unlinkReply sets the link of all requests that reply i asked for to unknown.
func (l *ProxyLog) unlinkReply(i int) {
	for j := range l.Dispatches {
		d := &l.Dispatches[j]
		if d.Reply == i && d.Link.isBound() {
			d.Link = LinkUnknown
			d.Chosen = true
		}
	}
}
