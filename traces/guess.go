package traces

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/trajectory-arena/arena/internal/strictyaml"
)

// reportAddress is where users report a format that this program does not read.
const reportAddress = "https://github.com/trajectory-arena/arena/issues"

// likeness is a kind of document that this program cannot read but recognises, by keys that all
// such documents have, to say in the error what the file is.
type likeness struct {
	Name string
	// Keys are paths of gjson. All of them exist in a document of this kind.
	Keys []string
	// Version is the gjson path of the version of the format or its program, empty if there is
	// none.
	Version string
	// Advice tells the user what to do; if it is empty, the user can only report the document.
	Advice string
}

//go:embed likenesses.yaml
var likenessesFile []byte

// likenesses returns the kinds of documents of likenesses.yaml, in the order in which they are
// compared with a record.
var likenesses = sync.OnceValue(func() (kinds []likeness) {
	if err := strictyaml.Decode(likenessesFile, &kinds); err != nil {
		panic(err) // the file is a part of the program
	}
	return kinds
})

// guess returns the end of an error message for a record of no known format: the kind of document
// that its keys suggest with advice, and where to report it.
func guess(record string) string {
	for _, l := range likenesses() {
		if !l.matches(record) {
			continue
		}
		words := "it looks like " + l.Name + " (" + strings.Join(l.Keys, ", ")
		if version := gjson.Get(record, l.Version).String(); l.Version != "" && plainVersion.MatchString(version) {
			words += ", version " + version
		}
		words += "): "
		if l.Advice != "" {
			words += l.Advice + ", or "
		}
		return words + "report it at " + reportAddress
	}
	return "no format with these keys is known: report it at " + reportAddress + ", or write each run as docs/how-to/my-agents.md says"
}

// plainVersion matches version numbers. Another text in place of a version may be a secret and is
// not repeated in messages.
var plainVersion = regexp.MustCompile(`^v?[0-9]{1,5}(\.[0-9]{1,5}){0,3}$`)

func (l *likeness) matches(record string) bool {
	for _, value := range gjson.GetMany(record, l.Keys...) {
		if !value.Exists() {
			return false
		}
	}
	return true
}
