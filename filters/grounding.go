package filters

import (
	"slices"
	"strconv"
	"strings"
)

// grounding notes how far words and calls rest on what was there to read: numbers
// in thoughts, products in calls, and words of searches that the answer's title
// holds.
func (a *attempt) grounding(s *Sample) {
	seen := 0 // claims before this turn
	for i := range a.dialogue.Turns {
		turn := &a.dialogue.Turns[i]
		made := min(seen+len(turn.Calls), len(a.claims))
		for number := range numbers(turn.Think) {
			if !a.asks(number, made) {
				s.Numbers++
				s.Ungrounded += int(flag(!strings.Contains(a.query, number) && !a.grounded(number, seen)))
			}
		}
		seen = made
	}
	for i := range a.claims {
		switch c := &a.claims[i].act; c.tool {
		case toolView, toolMatch, toolRecommend:
			s.IDs += len(c.ids)
		case toolFind:
			s.Foreknown += int(flag(a.foreknows(i)))
		case toolOther, toolShop, toolVoucher, toolTerminate:
		}
	}
	s.UnseenIDs = a.invented
}

// asks reports whether one of the first calls has the number among its arguments.
func (a *attempt) asks(number string, calls int) bool {
	for i := range a.claims[:calls] {
		if strings.Contains(string(a.claims[i].call.Arguments), number) {
			return true
		}
	}
	return false
}

// grounded reports whether one of the first results holds a number, in the dialogue
// or, since clients trim what they show, in the log; cents do not count, and rounding
// does not.
func (a *attempt) grounded(number string, results int) bool {
	whole, _, _ := strings.Cut(number, ".")
	if len(whole) < 3 {
		whole = strings.TrimRight(number, "0")
	}
	if a.returned(whole, results) || a.inLog(whole, results) {
		return true
	}
	n, err := strconv.Atoi(number)
	return err == nil && a.returned(strconv.Itoa(n-1)+".", results)
}

// inLog reports whether the log's answer to one of the first calls holds a text.
func (a *attempt) inLog(text string, results int) bool {
	for i := range a.claims[:results] {
		if d := a.claims[i].dispatch; d >= 0 && strings.Contains(string(a.log.dispatches[d].call.Response), text) {
			return true
		}
	}
	return false
}

// foreknows reports whether the search of claim i uses a word of the title finally
// recommended that neither the request nor a result before it holds.
func (a *attempt) foreknows(i int) bool {
	for _, word := range a.claims[i].act.words {
		if !a.pad.request.has(word) && slices.Contains(a.answerWords(), word) && !a.holds(word, i) {
			return true
		}
	}
	return false
}

// answerWords are the words of the titles that lists give what was recommended.
func (a *attempt) answerWords() []uint64 {
	if a.recommended == nil || len(a.pad.answered) > 0 {
		return a.pad.answered
	}
	for i := range a.claims {
		list := &a.claims[i].listing
		for _, id := range a.recommended.act.ids {
			if at := indexID(list.shown, id); at >= 0 && at < len(list.titles) {
				a.pad.answered = appendWords(a.pad.answered, list.titles[at])
			}
		}
	}
	return a.pad.answered
}

// holds reports whether one of the first results holds the word.
func (a *attempt) holds(word uint64, results int) bool {
	for i := range a.claims[:results] {
		if a.searched += len(a.claims[i].call.Result); a.searched > maxSearched {
			return true
		}
		for text := string(a.claims[i].call.Result); text != ""; {
			found, _, n := nextWord(text)
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

// replayed reports whether thoughts of the day give numbers that stood nowhere,
// about products that the shop showed: words from elsewhere. Who makes up
// products, too, makes up both. Honest agents reach 0.07.
func (a *AgentStats) replayed() bool {
	return a.Ungrounded.Whole >= minGrounding && a.Ungrounded.Share() > 0.12 && a.UnseenIDs.Share() < 0.05
}

// foreknown reports whether searches of the day use words of the answer before
// anything held them. Honest agents reach 0.1.
func (a *AgentStats) foreknown() bool {
	return a.Foreknown.Whole >= minGrounding && a.Foreknown.Share() > 0.3
}

// minGrounding is the least number of numbers, or of searches, that say anything.
const minGrounding = 20
