package script

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/asjson"
)

// shopper returns a function that plans the conversation of a simulated student with a shop: it
// searches for products by title, views them, recommends them, and ends. In about the given share
// of conversations, chosen by request and seed, it recommends the requested products and so
// succeeds; in the others it recommends decoy, a wrong product. For an unknown request the plan is
// one reply without calls.
func shopper(
	problems []arena.Problem,
	decoy arena.Reward,
	share float64,
) func(query string, seed int64) Plan {
	wishes := make(map[string][]arena.Reward, len(problems))
	for _, p := range problems {
		wishes[p.Query] = p.Rewards
	}
	return func(query string, seed int64) Plan {
		wished, known := wishes[query]
		switch {
		case !known:
			return Plan{{Content: "I do not know this request."}}
		case chance(query, seed) >= share:
			return shop([]arena.Reward{decoy})
		default:
			return shop(wished)
		}
	}
}

// Day returns a shopper for the problems in a folder. Its decoy is the first product in the
// catalogue that no problem requests.
func Day(folder string, share float64) (func(query string, seed int64) Plan, error) {
	file, err := os.Open(filepath.Join(folder, "problems.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("read problems: %w", err)
	}
	defer file.Close()       //nolint:errcheck // only read
	const longest = 64 << 20 // bytes of a problem
	problems, err := arena.ReadProblems(file, longest)
	if err != nil {
		return nil, fmt.Errorf("read problems of %s: %w", folder, err)
	}
	catalog, err := os.ReadFile(filepath.Join(folder, "catalog.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("read catalogue: %w", err)
	}
	decoy, products := unwanted(catalog, problems)
	if !products {
		return nil, fmt.Errorf("read catalogue of %s: every product is wanted", folder)
	}
	return shopper(problems, decoy, share), nil
}

func unwanted(catalog []byte, problems []arena.Problem) (arena.Reward, bool) {
	wanted := map[string]bool{}
	for _, p := range problems {
		for _, r := range p.Rewards {
			wanted[r.ProductID] = true
		}
	}
	for line := range bytes.Lines(catalog) {
		if id := gjson.GetBytes(line, "product_id").String(); id != "" && !wanted[id] {
			return arena.Reward{
				ProductID: id,
				Titles:    []string{gjson.GetBytes(line, "title").String()},
			}, true
		}
	}
	return arena.Reward{}, false
}

func shop(wishes []arena.Reward) Plan {
	var plan Plan
	ids := make([]string, len(wishes))
	for i, r := range wishes {
		ids[i] = r.ProductID
		title := strings.Join(r.Titles, " ")
		plan = append(plan, act(
			fmt.Sprintf("Item %d of the request is still to be found: %s.", i+1, title),
			"find_product",
			"q",
			title,
		))
	}
	problems := strings.Join(ids, ",")
	return append(plan,
		act("The title of "+ids[0]+" names all that was asked for. I open it.", "view_product_information", "product_ids", problems),
		act("The details agree with the request, so I recommend "+problems+".", "recommend_product", "product_ids", problems),
		act("Nothing is left to do.", "terminate", "status", "success"))
}

func act(thought, tool, key, value string) Act {
	return Act{
		Content: "<think>" + thought + "</think>",
		Calls: []Call{{
			Name:      tool,
			Arguments: string(asjson.Bytes(map[string]string{key: value})),
		}},
	}
}

// chance returns a pseudorandom number from 0 to 1 that depends only on the request and the
// seed.
func chance(query string, seed int64) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", seed, query))
	return float64(binary.BigEndian.Uint64(sum[:])) / math.MaxUint64
}
