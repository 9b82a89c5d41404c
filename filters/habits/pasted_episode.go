package habits

import "github.com/trajectory-arena/arena/filters/evidence"

var _ = proof(Proof{
	Check: "pasted_episode_v1", Reason: "pasted_episode", Odds: -12,
	Doc:   "The same calls answer different requests.",
	Why:   "the same calls answer more than max_pastes requests",
	holds: func(s *Sample, a *Agent, l Limits) bool { return a.pastes[s.Episode] > l.MaxPastes },
})

// episode is a hash of all calls with their arguments, 0 where the shop was not
// asked or no product was named: two requests may need the same search.
func episode(a *evidence.Attempt) (h uint64) {
	asked, took := false, false
	for i := range a.Claims {
		c := &a.Claims[i].Act
		h, asked, took = evidence.Mix(h, c.Hash()), asked || c.Tool.Catalogue(), took || c.Tool.Takes() && len(c.IDs) > 0
	}
	if !asked || !took {
		return 0
	}
	return h
}

// pastes counts the distinct requests behind each episode.
func pastes(samples []Sample) map[uint64]int {
	type pair struct{ episode, query uint64 }
	seen := map[pair]bool{}
	n := map[uint64]int{}
	for i := range samples {
		p := pair{samples[i].Episode, samples[i].Query}
		if p.episode != 0 && !seen[p] {
			seen[p] = true
			n[p.episode]++
		}
	}
	return n
}
