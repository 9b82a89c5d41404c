// Package shopcalls reads the ids in calls of the shop's tools.
package shopcalls

import (
	"math"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/calls"
)

// Answer is the name of the tool that gives the final answer: it recommends products to the customer.
const Answer = "recommend_product"

// AnswerIDs returns the product ids that a call recommends, in order. It returns nil if the call is
// not a call of the tool Answer.
func AnswerIDs(c arena.Call) []string {
	if c.Name != Answer {
		return nil
	}
	return ItemIDs(c.Arguments)
}

// LastAnswer returns the product ids of the last recommendation in turns. It returns nil if there is
// none.
func LastAnswer(turns []arena.Turn) (ids []string) {
	for i := range turns {
		for _, call := range turns[i].Calls {
			if call.Name == Answer {
				ids = AnswerIDs(call)
			}
		}
	}
	return ids
}

// ItemIDs returns the product ids in a call's arguments product_id and product_ids, in order.
func ItemIDs(arguments arena.Raw) []string {
	var ids []string
	for key, v := range gjson.Parse(string(arguments)).ForEach {
		if key.Str == "product_ids" || key.Str == "product_id" {
			ids = calls.AppendIDs(ids, v, math.MaxInt)
		}
	}
	return ids
}
