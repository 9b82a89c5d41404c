package arena

// Suite finds the problem that a trace is an attempt at.
type Suite struct {
	byID     map[string]*Problem
	byQuery  map[string]*Problem
	nameless map[string]*Problem
}

// NewSuite indexes problems. Of two with the same identity the later one
// counts, as in the subnet's own bookkeeping.
func NewSuite(problems []Problem) *Suite {
	s := &Suite{byID: map[string]*Problem{}, byQuery: map[string]*Problem{}, nameless: map[string]*Problem{}}
	for i := range problems {
		p := &problems[i]
		s.byQuery[p.Query] = p
		if p.ID == "" {
			s.nameless[p.Query] = p
		} else {
			s.byID[p.ID] = p
		}
	}
	return s
}

// Find returns the problem with the trace's problem_id. Where either side has
// no id, the text of the request decides.
func (s *Suite) Find(t *Trace) (*Problem, bool) {
	if p, ok := s.byID[t.ProblemID]; ok && t.ProblemID != "" {
		return p, true
	}
	if t.Query == "" {
		return nil, false
	}
	if t.ProblemID == "" {
		p, ok := s.byQuery[t.Query]
		return p, ok
	}
	p, ok := s.nameless[t.Query]
	return p, ok
}
