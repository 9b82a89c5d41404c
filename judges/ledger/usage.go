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

// Usage is what one model's answers have cost in tokens, for predictions.
type Usage struct {
	// Answers counts exchanges with known token counts; the sums are theirs.
	Answers     int
	PromptBytes int
	Prompt      int
	Completion  int
	// MaxCompletion is the longest answer; MaxRatio the most prompt tokens per
	// byte of messages.
	MaxCompletion int
	MaxRatio      float64
}

func (u Usage) plus(e Exchange) Usage {
	if e.Tokens.Prompt == 0 || e.PromptBytes == 0 {
		return u
	}
	return Usage{
		Answers:       u.Answers + 1,
		PromptBytes:   u.PromptBytes + e.PromptBytes,
		Prompt:        u.Prompt + e.Tokens.Prompt,
		Completion:    u.Completion + e.Tokens.Completion,
		MaxCompletion: max(u.MaxCompletion, e.Tokens.Completion),
		MaxRatio:      max(u.MaxRatio, float64(e.Tokens.Prompt)/float64(e.PromptBytes)),
	}
}

// Usage gives the figures of one model.
func (l *Ledger) Usage(model string) Usage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.usage[model]
}
