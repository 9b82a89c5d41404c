package client

import "time"

// breaker sets a server aside that takes requests and never answers: each would
// else cost a whole time-out, and all who wait behind it theirs.
type breaker struct {
	// silences counts requests in a row whose time passed without a reply.
	silences int
	// next is when a server that is set aside may be asked again, by one request;
	// probing says that it is under way.
	next    time.Time
	probing bool
}

const (
	// breakAfter is what one question may cost by itself (llm.Defaults): a single
	// one that takes too long for any server keeps no other from being asked.
	breakAfter = 8
	// probeAfter is less than half of the pauses between the tries of a question,
	// so that most find a server that is back before they are given up.
	probeAfter = 10 * time.Second
)

// open reports whether no request may be sent now.
func (b *breaker) open(now time.Time) bool {
	return b.silences >= breakAfter && (b.probing || now.Before(b.next))
}

// probe takes note of a request that is about to be let through, and says
// whether it is the one that tries a server that is set aside.
func (b *breaker) probe() bool {
	b.probing = b.silences >= breakAfter
	return b.probing
}

// unsent takes note of one that was let through and not sent.
func (b *breaker) unsent(p pass) {
	if p.probe {
		b.probing = false
	}
}

// ended takes note of one that was sent, and reports whether the server is set
// aside now.
func (b *breaker) ended(p pass, silent bool, now time.Time) bool {
	b.unsent(p)
	if !silent {
		b.silences = 0
		return false
	}
	b.silences++
	b.next = now.Add(probeAfter)
	return b.silences >= breakAfter
}

func asideFault() *Fault {
	return &Fault{Kind: Network, Detail: "the server is set aside: its last requests got no reply within the time-out"}
}
