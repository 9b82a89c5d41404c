package guard

import (
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/trajectory-arena/arena/internal/stats"
)

// statementFiles contains, compiled into the program, the harmless requests and the templates for
// changed requests with which the guard is tested.
//
//go:embed statement/*.txt
var statementFiles embed.FS

// HonestReport is the measured share of honest requests that the guard drops by mistake: requests
// that were written for the project and ask for no problem of any bank.
type HonestReport struct {
	Requests int     `json:"requests"`
	Dropped  int     `json:"dropped"`
	Same     int     `json:"same"`
	Share    float64 `json:"share"`
	// Low and High are the 95 % Wilson interval of Share.
	Low  float64 `json:"wilson95_low"`
	High float64 `json:"wilson95_high"`
	// Examples holds up to five of the dropped requests.
	Examples []string `json:"examples,omitempty"`
}

// Honest checks the honest requests that the project has.
func (g *Guard) Honest() HonestReport {
	const maxExamples = 5
	r := HonestReport{}
	for _, text := range statementLines("honest") {
		f := g.Check(Candidate{Text: text})
		r.Requests++
		if f.Same {
			r.Same++
		}
		if !f.Drop {
			continue
		}
		r.Dropped++
		if len(r.Examples) < maxExamples {
			r.Examples = append(r.Examples, text)
		}
	}
	r.Share = float64(r.Dropped) / float64(r.Requests)
	interval := stats.Wilson(r.Dropped, r.Requests)
	r.Low = interval.Low
	r.High = interval.High
	return r
}

// statementLines returns the lines of the embedded file statement/NAME.txt, without blank lines and
// comments. It panics if there is no such file.
func statementLines(name string) []string {
	content, err := statementFiles.ReadFile("statement/" + name + ".txt")
	if err != nil {
		panic(fmt.Sprintf("read embedded file: %v", err))
	}
	lines := strings.Split(strings.TrimSpace(string(content)), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" || line[0] == '#' })
}

// formPlants returns the ways to change requests that are written in an embedded file of templates,
// as one plant for each kind, such as a request as keywords or in base64. If a kind has several
// templates, each request gets one of them, chosen by a hash of the request.
var formPlants = sync.OnceValue(func() []plant {
	var kinds []string
	forms := map[string][]string{}
	for _, line := range statementLines("templates") {
		kind, form, _ := strings.Cut(line, ": ")
		if forms[kind] == nil {
			kinds = append(kinds, kind)
		}
		forms[kind] = append(forms[kind], strings.ReplaceAll(form, `\n`, "\n"))
	}

	var out []plant
	for _, kind := range kinds {
		list := forms[kind]
		out = append(out, plant{
			kind: "form_" + kind,
			change: func(text string) string {
				return fillForm(list[int(draw(0, text)*float64(len(list)))], text)
			},
			split: func(text string) []string { return strings.Split(text, messageBreak) },
			floor: floorNone, // the forms measure, and decide nothing
		})
	}
	return out
})

// messageBreak separates the messages of a dialogue in a template by which requests are changed to
// test the guard.
const messageBreak = "|||"

// fillForm returns the template form with its placeholders, such as {request}, {start} and
// {base64}, replaced by the request, a part of it or an encoding of it.
func fillForm(form, request string) string {
	halves := splitInto(2)(request)
	thirds := splitInto(3)(request)
	runes := func(placeholder, format string) string {
		var b strings.Builder
		if strings.Contains(form, placeholder) { // few forms have it
			for _, r := range request {
				fmt.Fprintf(&b, format, r)
			}
		}
		return b.String()
	}
	return strings.NewReplacer(
		"{request}", request,
		"{start}", halves[0], "{end}", halves[1],
		"{a}", thirds[0], "{b}", thirds[1], "{c}", thirds[2],
		"{keywords}", keywords(request),
		"{clauses}", "- "+strings.Join(clauseSign.Split(request, -1), "\n- "),
		"{url}", url.QueryEscape(request),
		"{base64}", base64.StdEncoding.EncodeToString([]byte(request)),
		"{entities}", runes("{entities}", "&#%d;"),
		"{escapes}", runes("{escapes}", `\u%04x`),
		"{hex}", hex.EncodeToString([]byte(request)),
	).Replace(form)
}

var functionWords = strings.Fields("a an and any are by can for from find has have i i'm in is it looking me my need of on one or please show that the there this to want with you")

// keywords returns the words of a request without function words, separated by spaces.
func keywords(request string) string {
	words := slices.DeleteFunc(strings.Fields(request), func(w string) bool {
		return slices.Contains(functionWords, strings.ToLower(strings.Trim(w, ".,;:")))
	})
	return strings.Join(words, " ")
}
