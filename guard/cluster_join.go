package guard

import (
	"context"

	arena "github.com/trajectory-arena/arena"
)

// joinAlike joins problems whose requests the guard takes for one another.
func joinAlike(ctx context.Context, joined *forest, problems []arena.Problem) error {
	bank := make([]Entry, len(problems))
	for i, p := range problems {
		bank[i] = EntryOf("", p, "")
	}
	return joinLexical(ctx, joined, bank)
}

// joinEntries joins entries with a product or a normalised request in common,
// or with requests that the guard takes for one another.
func joinEntries(ctx context.Context, bank []Entry) (*forest, error) {
	joined, seen := newForest(len(bank)), map[string]int{}
	for i, e := range bank {
		keys := []string{}
		if text := normalised(e.Text); text != "" {
			keys = append(keys, "text "+text)
		}
		for _, id := range e.ProductIDs {
			keys = append(keys, "product "+id)
		}
		for _, key := range keys {
			if j, known := seen[key]; known {
				joined.join(i, j)
			} else {
				seen[key] = i
			}
		}
	}
	return joined, joinLexical(ctx, joined, bank)
}
