package rows

// Length is how many tokens of a row a trainer reads, by the counter named.
type Length struct {
	Tokens  int64
	Counter string
}

// Join makes it the longer of the two.
func (l *Length) Join(o Length) {
	if o.Tokens > l.Tokens {
		*l = o
	}
}

// Length is the row's own count.
func (r *SFT) Length() Length { return Length{r.NTokens, r.TokenCounter} }

// Length is the attempt's own count.
func (c *AttemptColumns) Length() Length { return Length{c.NTokens, c.TokenCounter} }

// Length is an estimate for the longer of the two attempts.
func (r *Pref) Length() Length {
	prompt := said(r.Prompt)
	return estimate(prompt + max(said(r.Chosen), said(r.Rejected)))
}

// Length is an estimate.
func (r *KTO) Length() Length { return estimate(said(r.Prompt) + said(r.Completion)) }

// Length is an estimate for the prompt with its tools.
func (r *RL) Length() Length { return estimate(said(r.Prompt) + len(r.Tools)) }

// Length is an estimate for the prompt.
func (r *Prompts) Length() Length { return estimate(said(r.Prompt)) }

// Length is an estimate for the whole attempt.
func (s *Steps) Length() Length {
	bytes := len(s.Prompt)
	for _, c := range s.Completions {
		bytes += len(c)
	}
	return estimate(bytes)
}

func said(ms []Msg) (bytes int) {
	for _, m := range ms {
		bytes += len(m.Content)
	}
	return bytes
}

// estimate counts as Bytes4 does.
func estimate(bytes int) Length { return Length{int64(bytes+3) / 4, Bytes4{}.Name()} }
