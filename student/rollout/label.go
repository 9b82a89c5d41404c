package rollout

import (
	"strings"

	"github.com/trajectory-arena/arena/internal/model"
	plaintext "github.com/trajectory-arena/arena/internal/text"
	"github.com/trajectory-arena/arena/student/dialect"
)

// lastReply is the label that a reply gives a rollout that ends with it; empty
// where the reply holds a readable call and was not cut off.
func lastReply(r model.Reply, t dialect.Turn, readable bool) Label {
	switch {
	case r.Finish == "length":
		return LabelTruncated
	case readable:
		return ""
	case r.Refusal != "" || r.Finish == "content_filter" || plaintext.Refuses(t.Text):
		return LabelRefusal
	case len(t.Calls) > 0:
		return LabelMalformedCall
	case t.Text == "" && t.Think == "":
		return LabelEmptyReply
	case t.Text == "" && strings.TrimSpace(r.Content) == "":
		return LabelReasoningOnly
	case t.Text == "":
		return LabelThinkOnly
	default:
		return LabelNoToolCall
	}
}

// label is the label of a failure. Success is known only to the scorer, which
// sets it.
func (p *play) label() Label {
	switch {
	case len(p.result.Recommended) > 0 && p.result.HallucinatedIDs > 0:
		return LabelHallucinated
	case len(p.result.Recommended) > 0:
		return LabelWrongProduct
	case p.last != "":
		return p.last
	case p.loops():
		return LabelLoop
	default:
		return LabelNoRecommendation
	}
}

// loops: the last three calls are equal in name and arguments.
func (p *play) loops() bool {
	const run = 3
	n := len(p.made)
	return n >= run && p.made[n-1] == p.made[n-2] && p.made[n-2] == p.made[n-3]
}
