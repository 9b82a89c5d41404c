package ledger

// Bill is what all recorded exchanges cost together.
type Bill struct {
	Exchanges int
	// Unpriced counts exchanges that used tokens whose price was unknown; they
	// add nothing to USD.
	Unpriced int
	Spent
}

func (b Bill) plus(e Exchange) Bill {
	cost := e.Tokens
	if cost.USD == nil {
		if cost.Prompt+cost.Completion > 0 {
			b.Unpriced++
		}
		cost.USD = new(float64)
	}
	return Bill{Exchanges: b.Exchanges + 1, Unpriced: b.Unpriced, Spent: b.Plus(cost)}
}

// Bill sums every exchange of every segment, this process's included.
func (l *Ledger) Bill() Bill {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bill
}

// asked is a model with the prompt it was given.
type asked struct{ model, prompt string }

// Usage is what one model's answers to one prompt have cost in tokens, for
// predictions.
type Usage struct {
	// Answers counts exchanges with known token counts; the sums are theirs.
	Answers     int
	Verdicts    int
	PromptBytes int
	Prompt      int
	Completion  int
	// MaxCompletion is the most tokens of an answer per verdict, MaxRatio the
	// most prompt tokens per byte of messages.
	MaxCompletion float64
	MaxRatio      float64
}

func (u Usage) plus(e Exchange) Usage {
	if e.Tokens.Prompt == 0 || e.PromptBytes == 0 || e.Verdicts == 0 {
		return u
	}
	return Usage{
		Answers:       u.Answers + 1,
		Verdicts:      u.Verdicts + e.Verdicts,
		PromptBytes:   u.PromptBytes + e.PromptBytes,
		Prompt:        u.Prompt + e.Tokens.Prompt,
		Completion:    u.Completion + e.Tokens.Completion,
		MaxCompletion: max(u.MaxCompletion, float64(e.Tokens.Completion)/float64(e.Verdicts)),
		MaxRatio:      max(u.MaxRatio, float64(e.Tokens.Prompt)/float64(e.PromptBytes)),
	}
}

// Usage gives the figures of one model with the prompt of that hash.
func (l *Ledger) Usage(model, promptSHA256 string) Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.usage[asked{model, promptSHA256}]
}
