package habits

// An id is one inference's. One reply may be a server's copy of an answer that it gave
// before, a whole log is none. Servers that give all replies one id, or none, tell nothing.
var _ = proof(Proof{
	Check: "copied_log_v1", Reason: "copied_log", Odds: -8,
	Doc: "Every reply of the log is one that an earlier attempt of the day got, by its id.",
	Why: "two replies and more, all with ids, lengths and ends that an earlier attempt's log holds: no model was asked again",
	Holds: func(s *Sample, a *Agent) bool {
		for _, reply := range s.Replies {
			if begun, known := a.found.replies[reply]; !known || begun >= s.Begun {
				return false
			}
		}
		return len(s.Replies) > 1
	},
})
