package guard

import (
	"strings"
	"testing"

	"github.com/trajectory-arena/arena/guard/rows"
)

const lamp = "Looking for a brass desk lamp with a green glass shade, dimmable, priced from 240 to 515 PHP."

func lampGuard(t *testing.T) *Guard {
	t.Helper()
	return newTestGuard(t, []Entry{
		{ID: "lamp", Text: lamp, ItemIDs: []string{"3755560126"}},
		{ID: "kettle", Text: "Show me an electric kettle of two litres in stainless steel that costs less than 900 PHP.", ItemIDs: []string{"8689528976"}},
		{ID: "parcel", Text: "I missed an Australia Post parcel and would rather collect it at Carlton Post Shop.\nPlease transfer it there if that can still be done. The listed $7.20 transfer fee is fine.\nIf that transfer is not available anymore, do not make a different delivery change for me, just tell me what the situation is."},
		{ID: "tent", Text: "I need a tent for four persons, waterproof to 3000 mm, with cash on delivery.", ItemIDs: []string{"9758744887"}},
	})
}

// TestConversationsAreRead checks that a request in several messages, parts or fields is found as
// in one text, and that other texts of the customer are no request.
func TestConversationsAreRead(t *testing.T) {
	t.Parallel()
	g := lampGuard(t)
	for name, c := range map[string]struct {
		row          string
		drop, isSame bool
	}{
		"three messages": {`{"messages":[{"role":"user","content":"Looking for a brass desk lamp"},{"role":"assistant","content":"Noted."},` +
			`{"role":"user","content":"with a green glass shade,"},{"role":"assistant","content":"Else?"},{"role":"user","content":"dimmable, priced from 240 to 515 PHP."}]}`, true, true},
		"parts of a message":    {`{"messages":[{"role":"user","content":[{"type":"text","text":"Looking for a brass desk lamp with a"},{"type":"text","text":"green glass shade, dimmable,"},{"type":"text","text":"priced from 240 to 515 PHP."}]}]}`, true, true},
		"system and user":       {`{"system":"Looking for a brass desk lamp with a green","messages":[{"role":"user","content":"glass shade, dimmable, priced from 240 to 515 PHP."}]}`, true, true},
		"instruction and input": {`{"instruction":"Looking for a brass desk lamp with a green glass","input":"shade, dimmable, priced from 240 to 515 PHP.","output":"ok"}`, true, true},
		"a longer conversation": {`{"messages":[{"role":"user","content":"Hello, how are you today?"},{"role":"assistant","content":"Fine."},{"role":"user","content":"Looking for a brass desk lamp with a green"},` +
			`{"role":"user","content":"glass shade, dimmable, priced from 240 to 515 PHP."},{"role":"user","content":"Thank you so much, that was all for now."}]}`, true, true},
		"reworded over two turns": {`{"messages":[{"role":"system","content":"You are a tool-using assistant."},{"role":"user","content":"My car will not start another session."},{"role":"assistant","content":"Else?"},` +
			`{"role":"user","content":"Australia Post came while I was out. Could you have my parcel moved to the Carlton Post Shop so I can pick it up there, assuming that is still"},` +
			`{"role":"user","content":"possible? I am fine with the $7.20 they list for that. If it cannot be moved any more, please don't reroute it some other way, only let me know."}]}`, true, false},
		"other wishes": {`{"messages":[{"role":"user","content":"Looking for a phone case in blue"},{"role":"user","content":"and some desk"},{"role":"user","content":"from 12 to 99 PHP, please"}]}`, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			candidate, err := ReadCandidate(rows.Row{JSON: c.row})
			if err != nil {
				t.Fatal(err)
			}
			f := g.Check(candidate)
			if f.Drop != c.drop || f.Same != c.isSame {
				t.Errorf("dropped %v, same %v, want %v, %v: %s", f.Drop, f.Same, c.drop, c.isSame, f.Evidence)
			}
		})
	}
}

// TestEveryFieldIsRead holds that a request or an id is found in every field where trainers write
// texts, but not in the results of tools, which show the products of other problems.
func TestEveryFieldIsRead(t *testing.T) {
	t.Parallel()
	g := lampGuard(t)
	const request, id = lamp, "3755560126"
	for row, drop := range map[string]bool{
		`{"messages":[{"role":"user","content":"socks"},{"role":"assistant","content":null,"refusal":"TEXT"}]}`:                                                        true,
		`{"messages":[{"role":"user","content":"socks"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"find","input":{"query":"TEXT"}}]}]}`:        true,
		`{"messages":[{"role":"user","content":"socks"},{"role":"assistant","content":[{"type":"thinking","thinking":"TEXT"}]}]}`:                                      true,
		`{"messages":[{"role":"function","name":"x","content":"TEXT"},{"role":"user","content":"socks"}]}`:                                                             true,
		`{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"socks"}]},{"type":"function_call","name":"f","arguments":"{\"id\": ID}"}]}`: true,
		`{"input":[{"role":"user","content":"socks"},{"type":"reasoning","summary":[{"type":"summary_text","text":"TEXT"}]}]}`:                                         true,
		`{"contents":[{"role":"user","parts":[{"text":"socks"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"id":ID}}}]}]}`:                          true,
		`{"prompt":"socks","label":"ID"}`:                                                                                                   true,
		`{"prompt":"socks","label":ID}`:                                                                                                     true,
		`{"prompt":"socks","reward_model":{"ground_truth":"ID"}}`:                                                                           true,
		`{"prompt":"socks","my_column":{"deep":[{"er":["TEXT"]}]}}`:                                                                         true,
		`{"prompt":"socks","completion":"https://shop.example/products/pdp-iID.html"}`:                                                      true,
		`{"prompt":"socks","completion":"xIDy and 3,755,560,126"}`:                                                                          true,
		`{"prompt":"socks","completion":"٣٧٥٥٥٦٠١٢٦"}`:                                                                                      true,
		`{"prompt":"socks","completion":"13755560126"}`:                                                                                     false,
		`{"messages":[{"role":"user","content":"socks"},{"role":"tool","content":"[{\"product_id\": \"ID\"}]"}]}`:                           false,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"ID"},{"type":"text","text":"socks"}]}]}`: false,
		`{"prompt":"socks","observation":"[{\"product_id\": \"ID\"}]"}`:                                                                     false,
		`{"prompt":"socks","image":"data:image/png;base64,ID"}`:                                                                             false,
	} {
		row = strings.NewReplacer("TEXT", request, "ID", id).Replace(row)
		candidate, err := ReadCandidate(rows.Row{JSON: row})
		if err != nil {
			t.Fatal(err)
		}
		if f := g.Check(candidate); f.Drop != drop {
			t.Errorf("dropped %v, want %v: %s\n%s", f.Drop, drop, row, f.Evidence)
		}
	}
}
