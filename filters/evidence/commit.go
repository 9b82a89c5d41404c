package evidence

import (
	"slices"

	"github.com/tidwall/gjson"
)

// LastCommit returns the index in Claims of the last commit call, -1 if there is
// none.
func (a *Attempt) LastCommit() int {
	for i := range slices.Backward(a.Claims) {
		if a.Claims[i].Act.Tool == ToolCommit {
			return i
		}
	}
	return -1
}

// CommitReply returns the number, counted from 1, of the model's reply that asked for the
// commit call c. That is the first reply that commits at least these items, since
// clients may shorten a commit call. Without one, it is the last reply that contains the
// tool's name and all values as text. It returns 0 if there is no such reply.
func (a *Attempt) CommitReply(c *Claim) int {
	commits := func(named Act) bool {
		return isCommitOf(&named, c.Act.IDs)
	}
	i := slices.IndexFunc(a.Log.Replies, func(r Reply) bool {
		return slices.ContainsFunc(r.Named, commits)
	})
	if i >= 0 {
		return i + 1
	}

	r := request{names: []string{ToolName(c.Call.Name)}}
	r.addArguments(gjson.Parse(string(c.Call.Arguments)), false, 0)
	for reply := range slices.Backward(a.Log.Replies) {
		if a.findMention(reply, &r) == mentionWhole {
			return reply + 1
		}
	}
	return 0
}

// isCommitOf reports whether named, a call in a model's reply, gives the answer with all items of
// ids, and possibly more. If ids is empty, the call must have no items. A call of an unknown tool
// counts too, unless a logged request carried it out, since a call that gives the answer is not
// sent to the tool server.
func isCommitOf(named *Act, ids []string) bool {
	if len(ids) == 0 {
		return named.Tool == ToolCommit && len(named.IDs) == 0
	}
	unusedOther := named.Tool == ToolOther && !named.Used
	return (named.Tool == ToolCommit || unusedOther) && IsSubset(ids, named.IDs)
}

// FoundByClient reports whether the client found the answer: a request that no reply asked for
// was the first to show a committed item. It returns false if a reply is missing or
// truncated, since that reply may have asked for the request.
func (a *Attempt) FoundByClient() bool {
	if a.Commit == nil || a.Lost > 0 || a.Readable < len(a.Log.Replies) {
		return false
	}
	return slices.ContainsFunc(a.Commit.Act.IDs, func(id string) bool {
		for i := range a.Log.Dispatches {
			d := &a.Log.Dispatches[i]
			if slices.Contains(d.items, id) {
				isUnnamed := d.Link == LinkNone || d.Link == LinkNoReply || d.Link == LinkOverride
				return isUnnamed && !a.wasSubjectNamed(d)
			}
		}
		return false
	})
}

// wasSubjectNamed reports whether the model asked for a logged request except for its filters or
// page: a reply before the request contains a call with the same tool, words and items.
func (a *Attempt) wasSubjectNamed(d *Dispatch) bool {
	for i := range a.Log.Replies[:d.LastReply+1] {
		if slices.ContainsFunc(a.Log.Replies[i].Named, func(named Act) bool {
			return named.sameSubject(&d.Act)
		}) {
			return true
		}
	}
	return false
}

// AnswerCut reports whether the log is unreadable where the answer may be: a reply after the
// last request to the tool server, or the last reply of all, cannot be read.
func (a *Attempt) AnswerCut() bool {
	first := len(a.Log.Replies) - 1
	if n := len(a.Log.Dispatches); n > 0 {
		first = min(first, a.Log.Dispatches[n-1].LastReply+1)
	}
	return slices.ContainsFunc(a.Log.Replies[max(first, 0):], func(r Reply) bool {
		return !r.readable
	})
}

// HasOtherCommit reports whether any logged reply commits items. If
// CommitNamed is false, these differ from the items that the dialogue commits.
func (a *Attempt) HasOtherCommit() bool {
	commits := func(named Act) bool {
		return named.Tool == ToolCommit && len(named.IDs) > 0
	}
	return slices.ContainsFunc(a.Log.Replies, func(r Reply) bool {
		return slices.ContainsFunc(r.Named, commits)
	})
}

// ClientDecided reports whether the client, not the model, chose a request to the tool server or the
// answer. The model's replies could be read and did not ask for it, or asked for another one.
func (a *Attempt) ClientDecided() bool {
	lastReply := len(a.Log.Replies) - 1
	if a.Unbound()+a.Links[LinkUnknown]-a.Cut > 0 {
		return true
	}
	if a.Readable <= lastReply {
		return false
	}
	if a.Commit == nil || a.CommitNamed {
		return false
	}

	n := len(a.Log.Dispatches)
	noReplyAfter := n > 0 && a.Log.Dispatches[n-1].LastReply == lastReply
	return noReplyAfter || a.HasOtherCommit() || !a.CommitMentioned
}
