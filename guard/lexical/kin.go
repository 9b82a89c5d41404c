package lexical

import "context"

// Join calls join with the positions of two requests of which one would be dropped
// for the other, unless apart says that they are in one group already. The only
// error is that of ctx.
func Join(ctx context.Context, bank []Request, apart func(i, j int) bool, join func(i, j int)) error {
	x := New(bank)
	s, seen := x.newScratch(), map[string]bool{}
	for i, b := range x.bases {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := x.entry[i]
		if seen[bank[at].Text] {
			continue
		}
		seen[bank[at].Text] = true
		for _, other := range x.candidates(b.profile, s) {
			if apart(at, x.entry[other]) && x.judge(other, b.profile).score >= dropLogOdds {
				join(at, x.entry[other])
			}
		}
	}
	return nil
}
