package exporttest

// Nasty are JSON values that formats and loaders are known to bend. Each is
// sent as an argument, as a result and, as text, as request, thought and
// answer.
var Nasty = []string{
	`null`, `""`, `[]`, `{}`, `true`, `0`, `-0.0`, `1.50`, `1e300`, `12345678901234567890`,
	"\"a\u2028b\u2029c\"", `"🛒👩‍👩‍👧"`, `"\u0000\t\"\\/<b>&"`, `" padded "`, `"\"quoted\""`, `"12"`, `"null"`, `"[1, 2]"`, `" {} "`,
	`"line\nline\r\n"`, `"</tool_response>"`, `"\ud800"`, "\"a\xffb\"", `{"a":[{"b":[null,1.50,{}]}],"":""}`, `[null]`, `[[],{}]`,
}
