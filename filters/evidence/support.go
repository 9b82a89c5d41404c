package evidence

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// TurnSupport describes a turn with calls, to decide whether its text refers to earlier results.
type TurnSupport struct {
	// EarlierClaims counts the calls before the turn. Calls counts those in the turn.
	EarlierClaims int
	Calls         int
	// Length is the length of the turn's thoughts and text, in bytes.
	Length int
	// Cites reports whether the turn contains a number of three digits or more that is in an
	// earlier result and not in the customer's request. Numbers are the same in every language.
	Cites bool

	turn int
}

// NumberCounts counts the numbers of three digits or more in the thoughts of a dialogue. A number
// that is in the arguments of a call of the same or an earlier turn is left out.
type NumberCounts struct {
	// Ungrounded counts the numbers that are neither in the customer's request nor in an earlier
	// result.
	Ungrounded int
	Total      int
}

// measureSupport sets a.Support, which says for each turn with calls whether it cites an earlier
// result, a.Numbers, which counts the numbers in thoughts and those without a source, and
// a.CallTurns, the number of turns with calls.
func (a *Attempt) measureSupport() {
	a.Support = a.scratch.support
	earlier := 0
	for i := range a.Dialogue.Turns {
		turn := &a.Dialogue.Turns[i]
		if len(turn.Calls) > 0 {
			a.CallTurns++
		}
		end := min(earlier+len(turn.Calls), len(a.Claims))
		s := TurnSupport{
			EarlierClaims: earlier,
			Calls:         len(turn.Calls),
			Length:        len(turn.Think) + len(turn.Text),
			turn:          i,
		}

		for number := range longNumbers(turn.Think) {
			if a.countNumber(number, earlier, end) {
				s.Cites = true
			}
		}
		for number := range longNumbers(turn.Text) {
			if !s.Cites && !strings.Contains(a.query, number) && a.resultContains(number, earlier) {
				s.Cites = true
			}
		}
		if earlier > 0 && len(turn.Calls) > 0 {
			a.Support = append(a.Support, s)
		}
		earlier = end
	}
	a.scratch.support = a.Support
}

// countNumber adds a number in a thought to a.Numbers: the numbers in all thoughts, and those
// without a source. A number in the arguments of one of the calls a.Claims[:end] is not counted. It
// returns whether the number cites a result: it is in that of one of the calls a.Claims[:earlier]
// and not in the customer's request.
func (a *Attempt) countNumber(number string, earlier, end int) (cites bool) {
	inQuery := strings.Contains(a.query, number)
	cites = !inQuery && a.resultContains(number, earlier)

	inArguments := func(c Claim) bool {
		return strings.Contains(string(c.Call.Arguments), number)
	}
	if slices.ContainsFunc(a.Claims[:end], inArguments) {
		return cites
	}
	a.Numbers.Total++
	if !inQuery && !cites && !a.isGrounded(number, earlier) {
		a.Numbers.Ungrounded++
	}
	return cites
}

// isGrounded reports whether a number of a thought comes from a result although it is not there
// literally, since models round and clients shorten what they show. The results of the calls
// a.Claims[:results] have it without its decimals or final zeros, as a price that it rounds up, or
// only in the answer that the proxy logged.
func (a *Attempt) isGrounded(number string, results int) bool {
	integer, _, _ := strings.Cut(number, ".")
	if len(integer) < 3 {
		integer = strings.TrimRight(number, "0")
	}
	if integer != number && a.resultContains(integer, results) || a.logContains(integer, results) {
		return true
	}
	n, err := strconv.Atoi(number)
	return err == nil && a.resultContains(strconv.Itoa(n-1)+".", results)
}

// logContains reports whether text is in an answer that the tool server gave to one of the
// dialogue's calls a.Claims[:results], as the proxy logged it. It skips answers that the dialogue
// shows unchanged, since those are searched there.
func (a *Attempt) logContains(text string, results int) bool {
	for i := range a.Claims[:results] {
		if a.Claims[i].Dispatch < 0 {
			continue
		}
		d := &a.Log.Dispatches[a.Claims[i].Dispatch]
		if !d.verbatim && strings.Contains(string(d.Call.Response), text) {
			return true
		}
	}
	return false
}

// longNumbers yields the numbers in a text that have at least three digits, such as "12.50". Digits
// after a decimal point are counted too.
func longNumbers(text string) iter.Seq[string] {
	isSeparator := func(r rune) bool {
		return (r < '0' || r > '9') && r != '.'
	}
	return func(yield func(string) bool) {
		for part := range strings.FieldsFuncSeq(text, isSeparator) {
			number := strings.Trim(part, ".")
			digits := len(number) - strings.Count(number, ".")
			if digits >= 3 && !yield(number) {
				return
			}
		}
	}
}

// QuotesTitle reports whether the text of a turn contains a word, such as a brand, that is in a
// title of an earlier result and not in the customer's request.
func (a *Attempt) QuotesTitle(s *TurnSupport) bool {
	for ; a.indexedTitles < s.EarlierClaims; a.indexedTitles++ {
		for _, title := range a.Claims[a.indexedTitles].Titles {
			a.scratch.titles = AppendWords(a.scratch.titles, title)
		}
	}
	turn := &a.Dialogue.Turns[s.turn]
	return a.hasTitleWord(turn.Think) || a.hasTitleWord(turn.Text)
}

// maxQuoted is the maximum number of bytes of a turn's text that are searched for words of item
// titles, from its start. Such words show that the model read the results.
const maxQuoted = 4 << 10

func (a *Attempt) hasTitleWord(text string) bool {
	for word := range Words(text[:min(len(text), maxQuoted)]) {
		if !a.scratch.isRequested(word) && slices.Contains(a.scratch.titles, word) {
			return true
		}
	}
	return false
}

// maxSearched is the maximum number of bytes of tool results that are searched for one attempt. An
// attempt of usual size needs a hundredth of it.
const maxSearched = 64 << 20

// resultContains reports whether text is in the result of one of the calls a.Claims[:results], of
// which it searches the last first. It returns false once the searches of the attempt exceed
// maxSearched bytes.
func (a *Attempt) resultContains(text string, results int) bool {
	for i := results - 1; i >= 0; i-- {
		result := string(a.Claims[i].Call.Result)
		a.searchedBytes += len(result)
		if a.searchedBytes > maxSearched {
			return false
		}
		if strings.Contains(result, text) {
			return true
		}
	}
	return false
}

// AnticipatesAnswer reports whether a search, the call at this index in Claims, uses a word of a
// committed item's title that is neither in the customer's request nor in an earlier
// result.
func (a *Attempt) AnticipatesAnswer(claim int) bool {
	return slices.ContainsFunc(a.Claims[claim].Act.Words, func(word uint64) bool {
		return !a.scratch.isRequested(word) && slices.Contains(a.answerWords(), word) &&
			!a.resultHasWord(word, claim)
	})
}

// answerWords returns the hashes of the words in the titles of the committed items (the items of
// the attempt's answer), as search results show them. It returns none if nothing is committed.
func (a *Attempt) answerWords() []uint64 {
	if a.Commit == nil || len(a.scratch.answer) > 0 {
		return a.scratch.answer
	}
	for i := range a.Claims {
		list := &a.Claims[i].Listing
		for _, id := range a.Commit.Act.IDs {
			if rank := slices.Index(list.Shown, id); rank >= 0 && rank < len(list.Titles) {
				a.scratch.answer = AppendWords(a.scratch.answer, list.Titles[rank])
			}
		}
	}
	return a.scratch.answer
}

// resultHasWord reports whether the word with this hash is in the result of one of the calls
// a.Claims[:results]. Once the searches of the attempt exceed maxSearched bytes, it returns true,
// so that the word is not taken as evidence.
func (a *Attempt) resultHasWord(word uint64, results int) bool {
	for i := range a.Claims[:results] {
		a.searchedBytes += len(a.Claims[i].Call.Result)
		if a.searchedBytes > maxSearched {
			return true
		}
		if slices.Contains(a.resultWords(i), word) {
			return true
		}
	}
	return false
}

// resultWords returns the hashes of the words in the result of the call at this index in a.Claims.
// It stores the words of the first results, since each search of an attempt may ask for them.
func (a *Attempt) resultWords(claim int) []uint64 {
	c := &a.Claims[claim]
	if c.resultWords != nil {
		return c.resultWords
	}
	start := len(a.scratch.results)
	all := AppendWords(a.scratch.results, string(c.Call.Result))
	if len(all) <= maxTotalWords {
		a.scratch.results = all
		c.resultWords = all[start:]
	}
	return all[start:]
}
