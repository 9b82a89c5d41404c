package filters_test

import (
	"encoding/json"
	"strings"
)

// call is a tool call that an agent of the world makes.
type call struct {
	name   string
	args   map[string]any
	result string
}

func find(q string, more ...any) call {
	args := map[string]any{"q": q, "page": 1}
	for i := 0; i+1 < len(more); i += 2 {
		args[more[i].(string)] = more[i+1]
	}
	return call{name: "find_product", args: args}
}

func view(ids ...string) call {
	return call{name: "view_product_information", args: map[string]any{"product_ids": strings.Join(ids, ",")}}
}

func recommend(ids ...string) call {
	return call{name: "recommend_product", args: map[string]any{"product_ids": strings.Join(ids, ",")}, result: `"Having recommended the products to the user: ` + strings.Join(ids, ",") + `."`}
}

func finish() call {
	return call{name: "terminate", args: map[string]any{"status": "success"}, result: `"The interaction has been completed with status: success"`}
}

// ids lists the products of a result.
func ids(c call) (out []string) {
	var rows []struct {
		ID string `json:"product_id"`
	}
	json.Unmarshal([]byte(c.result), &rows)
	for _, r := range rows {
		out = append(out, r.ID)
	}
	return out
}
