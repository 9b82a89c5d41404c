package script

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/trajectory-arena/arena"
)

// Shopper plans the conversations of a student that searches for the titles a
// problem asks for, opens what it found, recommends it and ends. It is right in
// about share of the conversations, decided by request and seed; in the others
// it shops for the decoy instead.
func Shopper(problems []arena.Problem, decoy arena.Product, share float64) func(query string, seed int64) Plan {
	wishes := make(map[string][]arena.Reward, len(problems))
	for _, p := range problems {
		wishes[p.Query] = p.Rewards
	}
	instead := []arena.Reward{{ProductID: decoy.ID, Titles: []string{decoy.Title}}}
	return func(query string, seed int64) Plan {
		wished, known := wishes[query]
		switch {
		case !known:
			return Plan{{Content: "I do not know this request."}}
		case chance(query, seed) >= share:
			return shop(instead)
		default:
			return shop(wished)
		}
	}
}

func shop(wishes []arena.Reward) Plan {
	var plan Plan
	ids := make([]string, len(wishes))
	for i, r := range wishes {
		ids[i] = r.ProductID
		title := strings.Join(r.Titles, " ")
		plan = append(plan, act(fmt.Sprintf("Item %d of the request is still to be found: %s.", i+1, title), "find_product", "q", title))
	}
	all := strings.Join(ids, ",")
	return append(plan,
		act("The title of "+ids[0]+" names all that was asked for. I open it.", "view_product_information", "product_ids", all),
		act("The details agree with the request, so I recommend "+all+".", "recommend_product", "product_ids", all),
		act("Nothing is left to do.", "terminate", "status", "success"))
}

func act(thought, tool, key, value string) Act {
	b, err := json.Marshal(map[string]string{key: value})
	if err != nil { // strings always encode
		return Act{}
	}
	return Act{Content: "<think>" + thought + "</think>", Calls: []Call{{Name: tool, Arguments: string(b)}}}
}

// chance is a number from 0 to 1 that request and seed decide.
func chance(query string, seed int64) float64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s", seed, query))
	return float64(binary.BigEndian.Uint64(sum[:])) / math.MaxUint64
}
