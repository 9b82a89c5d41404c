package habits

import (
	"slices"
	"strconv"
	"strings"

	"github.com/trajectory-arena/arena/filters/evidence"
)

// grounding notes how far words and calls rest on what was there to read: numbers
// in thoughts, products in calls, and words of searches that the answer's title
// holds.
func grounding(a *evidence.Attempt, s *Sample) {
	seen := 0 // claims before this turn
	for i := range a.Dialogue.Turns {
		turn := &a.Dialogue.Turns[i]
		made := min(seen+len(turn.Calls), len(a.Claims))
		for number := range numbers(turn.Think) {
			if !asks(a, number, made) {
				s.Numbers++
				s.Ungrounded += int(evidence.Flag(!strings.Contains(a.Query, number) && !grounded(a, number, seen)))
			}
		}
		seen = made
	}
	for i := range a.Claims {
		switch c := &a.Claims[i].Act; c.Tool {
		case evidence.ToolView, evidence.ToolMatch, evidence.ToolRecommend:
			s.IDs += len(c.IDs)
		case evidence.ToolFind:
			s.Foreknown += int(evidence.Flag(foreknows(a, i)))
		case evidence.ToolOther, evidence.ToolShop, evidence.ToolVoucher, evidence.ToolTerminate:
		}
	}
	s.UnseenIDs = a.Invented
}

// asks reports whether one of the first calls has the number among its arguments.
func asks(a *evidence.Attempt, number string, calls int) bool {
	for i := range a.Claims[:calls] {
		if strings.Contains(string(a.Claims[i].Call.Arguments), number) {
			return true
		}
	}
	return false
}

// grounded reports whether one of the first results holds a number, in the dialogue
// or, since clients trim what they show, in the log; cents do not count, and rounding
// does not.
func grounded(a *evidence.Attempt, number string, results int) bool {
	whole, _, _ := strings.Cut(number, ".")
	if len(whole) < 3 {
		whole = strings.TrimRight(number, "0")
	}
	if returned(a, whole, results) || inLog(a, whole, results) {
		return true
	}
	n, err := strconv.Atoi(number)
	return err == nil && returned(a, strconv.Itoa(n-1)+".", results)
}

// inLog reports whether the log's answer to one of the first calls holds a text.
func inLog(a *evidence.Attempt, text string, results int) bool {
	for i := range a.Claims[:results] {
		if d := a.Claims[i].Dispatch; d >= 0 && strings.Contains(string(a.Log.Dispatches[d].Call.Response), text) {
			return true
		}
	}
	return false
}

// foreknows reports whether the search of claim i uses a word of the title finally
// recommended that neither the request nor a result before it holds.
func foreknows(a *evidence.Attempt, i int) bool {
	for _, word := range a.Claims[i].Act.Words {
		if !a.Pad.Request.Has(word) && slices.Contains(answerWords(a), word) && !holds(a, word, i) {
			return true
		}
	}
	return false
}

// answerWords are the words of the titles that lists give what was recommended.
func answerWords(a *evidence.Attempt) []uint64 {
	if a.Recommended == nil || len(a.Pad.Answered) > 0 {
		return a.Pad.Answered
	}
	for i := range a.Claims {
		list := &a.Claims[i].Listing
		for _, id := range a.Recommended.Act.IDs {
			if at := evidence.IndexID(list.Shown, id); at >= 0 && at < len(list.Titles) {
				a.Pad.Answered = evidence.AppendWords(a.Pad.Answered, list.Titles[at])
			}
		}
	}
	return a.Pad.Answered
}

// holds reports whether one of the first results holds the word.
func holds(a *evidence.Attempt, word uint64, results int) bool {
	for i := range a.Claims[:results] {
		if a.Searched += len(a.Claims[i].Call.Result); a.Searched > maxSearched {
			return true
		}
		for text := string(a.Claims[i].Call.Result); text != ""; {
			found, _, n := evidence.NextWord(text)
			if n > 0 && found == word {
				return true
			}
			text = text[max(n, 1):]
		}
	}
	return false
}

// addGrounding adds up what the attempts of a day rest on. A day too short for
// habits, and rollouts, whose calls are the model's by construction, show nothing.
func (a *AgentStats) addGrounding(s []Sample) {
	for i := range s {
		a.Ungrounded = Tally{a.Ungrounded.Part + s[i].Ungrounded, a.Ungrounded.Whole + s[i].Numbers}
		a.UnseenIDs = Tally{a.UnseenIDs.Part + s[i].UnseenIDs, a.UnseenIDs.Whole + s[i].IDs}
		a.Foreknown = Tally{a.Foreknown.Part + s[i].Foreknown, a.Foreknown.Whole + s[i].Searches}
	}
}

// Replayed reports whether thoughts of the day give numbers that stood nowhere,
// about products that the shop showed: words from elsewhere. Who makes up
// products, too, makes up both. Honest agents reach 0.07.
func (a *AgentStats) Replayed() bool {
	return a.Ungrounded.Whole >= minGrounding && a.Ungrounded.Share() > 0.12 && a.UnseenIDs.Share() < 0.05
}

// Tabled reports whether searches of the day use words of the answer before
// anything held them. Honest agents reach 0.1.
func (a *AgentStats) Tabled() bool {
	return a.Foreknown.Whole >= minGrounding && a.Foreknown.Share() > 0.3
}

// minGrounding is the least number of numbers, or of searches, that say anything.
const minGrounding = 20
