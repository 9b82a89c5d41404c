package checks

import "strings"

// orders counts sentences that order whoever grades the text about: one that
// names a judge or its rubric together with a grade to give, or that tells its
// reader to forget earlier instructions. Single words of either kind are
// ordinary shopping talk ("the rating is 4.9", "give me a minute").
func orders(text string) (n int) {
	rest := strings.ToLower(text)
	if !anyOf(rest, stems) {
		return 0
	}
	for rest != "" {
		var sentence string
		sentence, rest = cutSentence(rest)
		if isOrder(sentence) {
			n++
		}
	}
	return n
}

// judgeWords name the reader who grades, in the languages whose speakers wrote
// such orders so far; gradeWords what it is to hand out, giveWords the handing
// out. forgetWords and rulesWords make up the other kind of order. Words that
// shoppers use of products (reviews, markers, top, rating) are left out.
var (
	judgeWords  = []string{"the judge", "judge:", "judges", "judge must", "judge should", "grader", "evaluator", "to the reviewer", "reviewer:", "scorer", "grading", "rubric", "assessor", "评委", "评分", "评审", "juez", "evaluador", "richter:", "bewerter", "gutachter", "évaluateur", "оценщик", "судья"}
	gradeWords  = []string{"score", "0.9", "0,9", "grade", "full marks", "full points", "highest", "maximum", "reward", "满分", "高分", "puntuación", "máxim", "punkte", "höchst", "la note", "балл", "оценк"}
	giveWords   = []string{"give", "assign", "award", "return", "output", "must", "should", "receive", "set ", "grant", "updated", "deserve", "给", "asigna", "dale", "gib", "vergib", "donne", "attribue", "поставь", "выстав"}
	forgetWords = []string{"ignore", "disregard", "forget", "override", "overrule", "忽略", "ignora", "ignoriere", "ignorez", "игнорир"}
	rulesWords  = []string{"previous instruction", "prior instruction", "earlier instruction", "above instruction", "all instruction", "your instruction", "instructions above", "system prompt", "rubric", "grading", "criteria of", "指令", "instruccion", "anweisung", "consigne", "инструкц"}
)

// stems are parts of all judgeWords and forgetWords: a text without them is read once.
var stems = []string{"judg", "grad", "valua", "reviewer", "scorer", "rubric", "assessor", "评", "juez", "richter:", "bewerter", "gutachter", "оценщик", "судья", "ignor", "disregard", "forget", "overr", "忽略", "игнорир", verdictKey}

// verdictKey is the key of the judge's own reply: no shopper has a use for it.
const verdictKey = "reasoning_quality"

func isOrder(s string) bool {
	return strings.Contains(s, verdictKey) ||
		anyOf(s, judgeWords) && anyOf(s, gradeWords) && anyOf(s, giveWords) ||
		anyOf(s, forgetWords) && anyOf(s, rulesWords)
}

func anyOf(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// cutSentence cuts at the signs that end a sentence; a point inside a number
// does not.
func cutSentence(s string) (sentence, rest string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' || c == '!' || c == '?':
			return s[:i], s[i+1:]
		case c == '.' && (i+1 == len(s) || s[i+1] == ' '):
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}
