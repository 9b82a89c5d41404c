package grounding

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trajectory-arena/arena/domain"
)

// datum is a text of the thinking that results may contain.
type datum struct {
	kind domain.Evidence
	text string
	// isLast reports that the thinking ends with the datum, which may have been cut there.
	isLast bool
}

// The parts of dates.
const (
	monthPattern = `(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:t|tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)`
	dayPattern   = `[0-9]{1,2}(?:st|nd|rd|th)?`
)

// The patterns of data. Those with a group have the datum in the group.
var (
	wordPattern   = regexp.MustCompile(`[\pL\pN_]+`)
	numberPattern = regexp.MustCompile(`\b[0-9][0-9,]*(?:\.[0-9]+)?\b`)
	datePattern   = regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T|\b)|\b(?:` +
		monthPattern + `\.? ` + dayPattern + `|` + dayPattern + ` ` + monthPattern + `)\b(?:,? [0-9]{4}\b)?|\b[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}\b`)
	quotePattern = regexp.MustCompile("`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")
	linePattern  = regexp.MustCompile(`[\w./~-]*\w\.\w+:[0-9]+\b|\b[Ll]ines? [0-9]+\b`)
	pathPattern  = regexp.MustCompile("(?:^|[\\s(\"'`])([~.]{0,2}/[\\w.-]*\\w(?:/[\\w.-]*\\w)*|[\\w./-]*\\w(?:\\.[a-z][a-z0-9]{1,4}|\\w\\.[a-z]))\\b")
	idPattern    = regexp.MustCompile(`\w{4,}`)
	// namePattern wants a word in small letters before the name, since sentences, headings and labels
	// begin with capitals.
	namePattern = regexp.MustCompile(`(?:^|[^\pL\pN])\p{Ll}[\pL\pN]*[,;]? +(\p{Lu}\pL+(?: +\p{Lu}\pL+)*)`)
)

// kind is a kind of data with the pattern that finds them.
type kind struct {
	kind    domain.Evidence
	pattern *regexp.Regexp
	// is reports whether a match is a datum; nil if each is one.
	is func(text string) bool
}

// patterns lists the kinds in the order in which data are looked for. A text that is a datum of one
// kind is none of a later one.
var patterns = []kind{
	{domain.EvidenceQuote, quotePattern, hasSeveralWords},
	{domain.EvidenceLine, linePattern, nil},
	{domain.EvidencePath, pathPattern, nil},
	{domain.EvidenceDate, datePattern, nil},
	{domain.EvidenceNumber, numberPattern, isFigure},
	{domain.EvidenceID, idPattern, isID},
	{domain.EvidenceName, namePattern, nil},
}

// find returns the data of these kinds in a text, at most maxData of them.
func find(text string, kinds []domain.Evidence) []datum {
	var out []datum
	text = escapes.Replace(text)
	free := []byte(text) // the text with zeros for the data that were found
	for _, p := range patterns {
		if !slices.Contains(kinds, p.kind) {
			continue
		}
		matches := p.pattern.FindAllSubmatchIndex(free, -1)
		if p.kind == domain.EvidenceName && hasCapitalNouns(text, len(matches)) {
			continue
		}
		for _, m := range matches {
			start := m[0]
			end := m[1]
			if len(m) > 2 && m[2] >= 0 {
				start = m[2]
				end = m[3]
			}
			if !isApart(text, start, end) || p.is != nil && !p.is(text[start:end]) {
				continue
			}
			if len(out) == maxData {
				return out
			}
			out = append(out, datum{p.kind, text[start:end], end == len(text)})
			for i := start; i < end; i++ {
				free[i] = 0
			}
		}
	}
	return out
}

// isApart reports whether no letter, digit or underscore of any script is directly before or after a
// part of a text.
func isApart(text string, start, end int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:start])
	after, _ := utf8.DecodeRuneInString(text[end:])
	isWord := func(r rune) bool { return r == '_' || unicode.In(r, unicode.L, unicode.N) }
	return !isWord(before) && !isWord(after)
}

// hasCapitalNouns reports whether so many words of a text are capitalised that these are no names:
// more than one of eight. Some languages capitalise each noun.
func hasCapitalNouns(text string, capitals int) bool {
	const maxShare = 8
	return capitals*maxShare > len(wordPattern.FindAllStringIndex(text, -1)) && capitals > 2
}

// isID reports whether a word looks like an id or an identifier: it has letters and digits, an
// underscore or a capital after a small letter, or it is a number of at least five digits.
func isID(w string) bool {
	const minDigits = 5
	digits := 0
	hasInner := strings.ContainsRune(strings.Trim(w, "_"), '_')
	for i, c := range w {
		if c >= '0' && c <= '9' {
			digits++
		}
		hasInner = hasInner || i > 0 && unicode.IsUpper(c) && unicode.IsLower(rune(w[i-1]))
	}
	startsWithDigit := w[0] >= '0' && w[0] <= '9'
	isMixed := digits > 0 && digits < len(w) && (!startsWithDigit || len(w) > minDigits)
	return hasInner || isMixed || digits >= minDigits && digits == len(w)
}

// hasSeveralWords reports whether a quotation is of more than one word. The quotation of one word, such
// as an id, is no quotation but the word.
func hasSeveralWords(quote string) bool {
	return len(strings.Fields(strings.Trim(quote, "`\"“” "))) > 1
}

// isFigure reports whether a number says more than a count: it has three digits or decimals.
func isFigure(n string) bool {
	const minDigits = 3
	return strings.Contains(n, ".") || len(strings.ReplaceAll(n, ",", "")) >= minDigits
}

// normalNumber returns a number without separators of thousands and superfluous zeros. It keeps all
// digits, since a long number is an id.
func normalNumber(n string) string {
	n = strings.TrimLeft(strings.ReplaceAll(n, ",", ""), "0")
	if strings.Contains(n, ".") {
		n = strings.TrimSuffix(strings.TrimRight(n, "0"), ".")
	}
	return n
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// readDate returns the days that a date may mean, each as year, month and day, or as month and day
// if the date has no year. 5/6/2024 is a day of May or of June.
func readDate(date string) []string {
	parts := wordPattern.FindAllString(date, -1)
	if strings.Contains(date, "-") {
		return []string{strings.TrimSuffix(date, "T")}
	}
	if strings.Contains(date, "/") {
		first := pad(parts[0])
		second := pad(parts[1])
		return []string{parts[2] + "-" + first + "-" + second, parts[2] + "-" + second + "-" + first}
	}
	if date[0] >= '0' && date[0] <= '9' {
		parts[0], parts[1] = parts[1], parts[0] // "16 May"
	}
	const letters = 3
	month := strings.Index(months, parts[0][:letters])/letters + 1
	day := strings.TrimRight(parts[1], "stndrh")
	read := pad(strconv.Itoa(month)) + "-" + pad(day)
	if len(parts) > 2 {
		read = parts[2] + "-" + read
	}
	return []string{read}
}

// withoutYear returns a date of readDate as month and day.
func withoutYear(date string) string { return date[len(date)-len("01-02"):] }

func pad(n string) string {
	if len(n) == 1 {
		return "0" + n
	}
	return n
}
