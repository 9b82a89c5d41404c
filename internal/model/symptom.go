package model

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// overflowPhrases are the phrases with which servers report that a prompt is longer than the
// model's context.
var overflowPhrases = []string{
	"context_length_exceeded", "exceed_context_size", "maximum context length", "context length", "context window", "context size",
	"prompt is too long", "input is too long", "too many tokens", "max_model_len", "max_seq_len", "longer than the maximum model length",
	"tokens + `max_new_tokens` must be", "exceeds the maximum number of tokens", "maximum number of tokens allowed", "prompt too long",
	"reduce the length of the messages", "longer than the model", "`inputs` must have less than", "exceeds maximum allowed token size",
	"exceeds the maximum allowed length",
}

// mentionsOverflow reports whether the body of a refusal states that the prompt is longer than the
// model's context, in one of the phrases that only such refusals have.
func mentionsOverflow(status int, body []byte) bool {
	isRefusal := status >= 400 && status <= 500 && status != http.StatusTooManyRequests
	return isRefusal && containsAny(overflowPhrases, body) && !rateWords.Match(body)
}

// sizeWords match the words of servers about a prompt that is too long. otherSizes match
// refusals about other lengths, tokens and contexts. rateWords match refusals about the rate of
// requests.
var (
	sizeWords  = regexp.MustCompile(`(?i)tokens?\b|\b(?:max_)?(?:length|context|prompt|input)\b|\btoo (?:long|large)\b|seq_?len|n_ctx|num_ctx`)
	otherSizes = regexp.MustCompile(`(?i)\b(?:tool_call_|call[ _])?ids?\b|characters|string too long|context (?:deadline|cancel)|(?:unexpected|invalid|expired|missing) token|(?:api|access|auth\w*|bearer|refresh|csrf|security|jwt|signature)[ _-]?token|token (?:is |has |was )?(?:expired|invalid|missing|revoked)|content-length|time[d -]*out|temperature|top_[kp]|entity too large|payload too large|arguments|template|schema|role`)
	rateWords  = regexp.MustCompile(`(?i)rate.?limit|per (?:minute|second|hour|day)|\b[TR]P[MDS]\b|quota|too many requests`)
)

// mentionsLength reports whether a refusal with status 400, 413, 422 or 500 mentions tokens,
// length or context, and neither another size nor the rate of requests. After earlier turns of
// the same conversation were accepted, such a refusal means that the prompt has become too long.
func mentionsLength(status int, body []byte) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return sizeWords.Match(body) && !otherSizes.Match(body) && !rateWords.Match(body)
	}
	return false
}

// spentWords match refusals for lack of money or quota, for which waiting does not help.
// laterWords match those that announce a time from which requests are accepted again.
var (
	spentWords = regexp.MustCompile(`(?i)insufficient[_ ](?:user_)?(?:quota|balance|credits?|funds)|exceeded your current quota|billing[_ ](?:hard_limit|not_active)|credit balance|out of credits?|no credits|arrear|balance is too low|payment required|account.{0,20}suspended`)
	laterWords = regexp.MustCompile(`(?i)retry in|retrydelay|try again in`)
)

// isRefusedAccount reports whether a server refuses the key or the account, so that it would
// refuse all other requests too. With status 403, a server may instead refuse the text of one
// request, which its message states.
func isRefusedAccount(status int, body []byte) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired:
		return true
	case http.StatusForbidden:
		return !containsAny([]string{"moderation", "flagged", "content policy", "content_policy", "content filter"}, body)
	case http.StatusBadRequest, http.StatusTooManyRequests:
		return spentWords.Match(body) && !laterWords.Match(body)
	}
	return false
}

// refusedOutput matches refusals by a server that could not parse what the model wrote.
// refusedInput matches refusals of the request.
var (
	refusedOutput = regexp.MustCompile(`(?i)tool_use_failed|failed_generation|failed to call a function|malformed_function_call|(?:fail(?:ed|ure)|error|unable|could not|cannot)[^"{}]{0,20} pars(?:e|ing)[^"{}]{0,20} (?:tool|function|input at|output|generat|model|response)|invalid tool call`)
	refusedInput  = regexp.MustCompile(`(?i)messages|arguments as json|tool_call_id|request body`)
)

// isRefusedOutput reports whether a server refuses what the model itself wrote in this request.
func isRefusedOutput(status int, body []byte) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError:
		return refusedOutput.Match(body) && !refusedInput.Match(body)
	}
	return false
}

// awayWords match what a router says, with status 500, of a server that it cannot reach.
var awayWords = regexp.MustCompile(`(?i)(?:cannot|can't|could not|unable to|failed to) connect\b|connect call failed|connection (?:refused|reset|error|aborted|closed)|all connection attempts failed|no healthy upstream|upstream connect|econn(?:refused|reset)|server disconnected|no route to host|name or service not known|dial tcp`)

// isAway reports whether a reply means that the server behind a router is away or overloaded:
// nothing is wrong with the request, and waiting helps.
func isAway(status int, body []byte) bool {
	const firstOfProxy, lastOfProxy = 520, 527 // of Cloudflare
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, statusOverloaded:
		return true
	case http.StatusInternalServerError:
		return awayWords.Match(body)
	}
	return status >= firstOfProxy && status <= lastOfProxy
}

// statusInText matches the status line of an HTTP error, such as "503 Service Unavailable".
var statusInText = regexp.MustCompile(`\b[45]\d\d[ :-]+[A-Z][A-Za-z -]+`)

// isStatusText reports whether a text is an error of a gateway that was returned as the model's
// reply. Such a text is short and contains an HTTP status with its standard name.
func isStatusText(text string) bool {
	const longest = 300
	if len(text) > longest {
		return false
	}
	for _, words := range statusInText.FindAllString(text, -1) {
		status, _ := strconv.Atoi(words[:3])
		name := http.StatusText(status)
		if name != "" && strings.HasPrefix(strings.TrimLeft(words[3:], " :-"), name) {
			return true
		}
	}
	return false
}

// replyLimitPhrases are the phrases with which servers name the limit of a reply's tokens.
var replyLimitPhrases = []string{"max_tokens", "max_completion_tokens", "max_new_tokens", "completion"}

// MentionsReplyLimit reports whether the body of a refusal mentions the tokens reserved for the
// reply. The prompt alone may then be short enough.
func MentionsReplyLimit(body []byte) bool { return containsAny(replyLimitPhrases, body) }

// containsAny reports whether body contains any of the phrases, which are in lower case.
func containsAny(phrases []string, body []byte) bool {
	s := strings.ToLower(string(body))
	return slices.ContainsFunc(phrases, func(phrase string) bool {
		return strings.Contains(s, phrase)
	})
}

// saysOverflow reports whether the body of a refusal contains one of the configured phrases for
// a prompt that is too long.
func (c Config) saysOverflow(status int, body []byte) bool {
	words := slicesx.Map(c.OverflowWords, strings.ToLower)
	return status >= 400 && containsAny(words, body)
}
