package audit

import (
	"fmt"

	"github.com/trajectory-arena/arena/cmd/arena/cli"
	"github.com/trajectory-arena/arena/internal/claims"
)

// verifyClaims prints what became of each claim of a file, and fails if one does
// not hold or contradicts another.
func verifyClaims(s *cli.Streams, path string, quiet bool) error {
	found, err := claims.Check(path, ".")
	if err != nil {
		return cli.Failed(err, "a line is {what, page, sentence, source, formula, value, tolerance}")
	}
	count := map[string]int{}
	for _, f := range found {
		count[f.Outcome]++
		if f.Outcome != claims.Holds || !quiet {
			fmt.Fprintf(s.Out, "%s: %s: %s: %v %s\n", cli.Printable(f.Claim.Page), f.Outcome, cli.Printable(f.Claim.What), f.Claim.Value, cli.Printable(f.Why))
		}
	}
	if wrong := count[claims.Differs] + count[claims.Contradicts]; wrong > 0 {
		return cli.Failed(fmt.Errorf("verify %s: %d of %s wrong", path, wrong, cli.Counted(len(found), "claim is", "claims are")), "correct the sentence, or what it was measured from")
	}
	if !quiet {
		fmt.Fprintf(s.Err, "%s: %d of %d claims hold, %d cannot be checked\n", path, count[claims.Holds], len(found), count[claims.Unchecked])
	}
	return nil
}
