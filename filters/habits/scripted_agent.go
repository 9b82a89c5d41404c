package habits

// An agent is one program all day: what it did where the log can tell, it did where
// the log holds nothing to read.
var _ = listed(&Proofs, Proof{
	Check: "scripted_agent_v1", Reason: "scripted_agent", Odds: -3,
	Doc: "The attempt's log holds nothing to read, and a program made nearly all other attempts of the agent's day.",
	Why: "0.95 of 12 attempts and more of the agent's day are a program's, and the log of this one holds nothing else",
	Holds: func(s *Sample, a *Agent) bool {
		return s.Silent && a.Scripted.Whole >= few && a.Scripted.Share() >= 0.95
	},
})
