package traces

import "testing"

// TestTypedStepsHoldNothingElse checks that a step is typed only if its message is exactly what the
// sandbox writes, so that code may ignore Raw.
func TestTypedStepsHoldNothingElse(t *testing.T) {
	t.Parallel()
	call := `{"name":"f","parameters":{},"tool_call_id":"c","result":[1]}`
	for step, want := range map[string]bool{
		`{"completion":{"message":{"think":"a","tool_call":[` + call + `],"response":"b"}}}`: true,
		`{"completion":{"message":{}}}`:                                           true,
		`{"completion":{"message":{"tool_call":[{"name":"f","parameters":{}}]}}}`: true,
		`{"completion":{}}`:                                                                        false,
		`{"completion":{"message":null}}`:                                                          false,
		`{"completion":{"message":{}},"completion":5}`:                                             false,
		`{"completion":{"message":{"think":5}}}`:                                                   false,
		`{"completion":{"message":{"think":"a","obs":[]}}}`:                                        false,
		`{"completion":{"message":{"response":null}}}`:                                             false,
		`{"completion":{"message":{"tool_call":{}}}}`:                                              false,
		`{"completion":{"message":{"tool_call":[` + call + `,null]}}}`:                             false,
		`{"completion":{"message":{"tool_call":[{"name":5,"parameters":{}}]}}}`:                    false,
		`{"completion":{"message":{"tool_call":[{"parameters":{}}]}}}`:                             false,
		`{"completion":{"message":{"tool_call":[{"name":"f"}]}}}`:                                  false,
		`{"completion":{"message":{"tool_call":[{"name":"f","parameters":[]}]}}}`:                  false,
		`{"completion":{"message":{"tool_call":[{"name":"f","parameters":{},"tool_call_id":1}]}}}`: false,
		`{"completion":{"message":{"tool_call":[{"name":"f","parameters":{},"more":1}]}}}`:         false,
		`null`: false,
	} {
		got := one(t, `{"problem_id":"p","status":"SUCCESS","dialogue":[`+step+`]}`)
		if got.Steps[0].Typed != want {
			t.Errorf("%s: typed %v", step, got.Steps[0].Typed)
		}
	}
}
