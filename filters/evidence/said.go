package evidence

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Said is what the words of one turn with calls rest on.
type Said struct {
	// Seen counts the claims before the turn, Calls those of it; Words is the length
	// of what it thinks and says, in bytes.
	Seen, Calls, Words int
	// Cites reports whether the words hold a number of three digits or more that
	// stands in an earlier result and not in the request. Numbers read the same in
	// every language.
	Cites bool
	turn  int
}

// Numbers counts the numbers of all thoughts that no call holds, part being those
// which neither the request nor an earlier result holds.
type Numbers struct{ Part, Whole int }

func (a *Attempt) read() {
	a.Said = a.Pad.spoken
	seen := 0
	for i, turn := range Each(a.Dialogue.Turns) {
		a.CallTurns += int(Flag(len(turn.Calls) > 0))
		s := Said{Seen: seen, Calls: len(turn.Calls), Words: len(turn.Think) + len(turn.Text), turn: i}
		made := min(seen+len(turn.Calls), len(a.Claims))
		for number := range numbers(turn.Think) {
			inQuery := strings.Contains(a.Query, number)
			cites := !inQuery && a.returned(number, seen)
			s.Cites = s.Cites || cites
			argued := func(c Claim) bool { return strings.Contains(string(c.Call.Arguments), number) }
			if !slices.ContainsFunc(a.Claims[:made], argued) {
				a.Whole++
				a.Part += int(Flag(!inQuery && !cites && !a.grounded(number, seen)))
			}
		}
		for number := range numbers(turn.Text) {
			s.Cites = s.Cites || !strings.Contains(a.Query, number) && a.returned(number, seen)
		}
		if seen > 0 && len(turn.Calls) > 0 {
			a.Said = append(a.Said, s)
		}
		seen = made
	}
	a.Pad.spoken = a.Said
}

// grounded reports whether one of the first results holds a number that it does not
// hold as written, in the dialogue or, since clients trim what they show, in the
// log; cents do not count, and rounding does not.
func (a *Attempt) grounded(number string, results int) bool {
	whole, _, _ := strings.Cut(number, ".")
	if len(whole) < 3 {
		whole = strings.TrimRight(number, "0")
	}
	if whole != number && a.returned(whole, results) || a.inLog(whole, results) {
		return true
	}
	n, err := strconv.Atoi(number)
	return err == nil && a.returned(strconv.Itoa(n-1)+".", results)
}

// inLog reports whether the log's answer to one of the first calls holds a text that
// the dialogue does not show.
func (a *Attempt) inLog(text string, results int) bool {
	for _, c := range Each(a.Claims[:results]) {
		if d := c.Dispatch; d >= 0 && !a.Log.Dispatches[d].verbatim && strings.Contains(string(a.Log.Dispatches[d].Call.Response), text) {
			return true
		}
	}
	return false
}

// numbers yields what stands in text with three digits or more.
func numbers(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }) {
			number := strings.Trim(part, ".")
			if len(number)-strings.Count(number, ".") >= 3 && !yield(number) {
				return
			}
		}
	}
}

// Quotes reports whether the words of a turn hold one out of the titles of earlier
// results that the request does not hold, such as a brand.
func (a *Attempt) Quotes(s *Said) bool {
	for ; a.titled < s.Seen; a.titled++ {
		for _, title := range a.Claims[a.titled].Titles {
			a.Pad.titles = AppendWords(a.Pad.titles, title)
		}
	}
	turn := &a.Dialogue.Turns[s.turn]
	return a.quotes(turn.Think) || a.quotes(turn.Text)
}

func (a *Attempt) quotes(text string) bool {
	for word := range Words(text[:min(len(text), maxQuoted)]) {
		if !a.Pad.requests(word) && slices.Contains(a.Pad.titles, word) {
			return true
		}
	}
	return false
}

// maxQuoted is how much of a text is searched for words out of titles.
const maxQuoted = 4 << 10

func (a *Attempt) returned(number string, results int) bool {
	for i := results - 1; i >= 0; i-- { // the newest is what most is said of
		if a.searched += len(a.Claims[i].Call.Result); a.searched > maxSearched {
			return false
		}
		if strings.Contains(string(a.Claims[i].Call.Result), number) {
			return true
		}
	}
	return false
}

// maxSearched bounds the bytes of results that are searched for what is said of
// them; an attempt of usual size comes to a hundredth of it.
const maxSearched = 64 << 20

// Foreknown reports whether the search of claim i uses a word of the title finally
// recommended that neither the request nor a result before it holds.
func (a *Attempt) Foreknown(i int) bool {
	return slices.ContainsFunc(a.Claims[i].Act.Words, func(word uint64) bool {
		return !a.Pad.requests(word) && slices.Contains(a.answerWords(), word) && !a.holds(word, i)
	})
}

// answerWords are the words of the titles that lists give what was recommended.
func (a *Attempt) answerWords() []uint64 {
	if a.Recommended == nil || len(a.Pad.answered) > 0 {
		return a.Pad.answered
	}
	for i := range a.Claims {
		list := &a.Claims[i].Listing
		for _, id := range a.Recommended.Act.IDs {
			if at := slices.Index(list.Shown, id); at >= 0 && at < len(list.Titles) {
				a.Pad.answered = AppendWords(a.Pad.answered, list.Titles[at])
			}
		}
	}
	return a.Pad.answered
}

func (a *Attempt) holds(word uint64, results int) bool {
	for i := range a.Claims[:results] {
		if a.searched += len(a.Claims[i].Call.Result); a.searched > maxSearched {
			return true
		}
		for found := range Words(string(a.Claims[i].Call.Result)) {
			if found == word {
				return true
			}
		}
	}
	return false
}
