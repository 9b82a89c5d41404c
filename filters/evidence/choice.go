package evidence

import "slices"

// linkChoices marks requests that the client chose from a list as undecided: a reply of the model
// called one tool several times, and the client sent a later of these calls without the earlier
// ones. The model then did not decide which call was sent. A list leaves no choice if the client
// sends its first calls only, or leaves out a call whose result it already has. Nor does it if the
// client votes among several answers to one request.
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

// isPassedOver reports whether the client skipped the call earlier, of the reply with this index,
// and carried out sent instead, a later call of the same reply to the same tool. A call whose
// request was sent before or right after the reply is not skipped.
func (l *ProxyLog) isPassedOver(earlier, sent *Act, reply int) bool {
	if earlier.Started || earlier.Tool != sent.Tool || earlier.name != sent.name {
		return false
	}
	return !slices.ContainsFunc(l.Dispatches, func(d Dispatch) bool {
		return d.LastReply <= reply && earlier.SameRequest(&d.Act)
	})
}

// unlinkReply handles a reply that is only a list from which the client chose: every logged request
// that it asked for is marked as chosen by the client, and it becomes unknown whether the model
// asked for the request.
func (l *ProxyLog) unlinkReply(i int) {
	for j := range l.Dispatches {
		d := &l.Dispatches[j]
		if d.Reply == i && d.Link.isBound() {
			d.Link = LinkUnknown
			d.Chosen = true
		}
	}
}
