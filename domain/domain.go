// Package domain describes what the agents of an arena do, as far as a corpus depends on it: their
// tools, where the outcome of an attempt is, and which instruments were measured on such attempts.
// A domain is a YAML file; some are built in.
package domain

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/digest"
	"github.com/trajectory-arena/arena/internal/strictyaml"
	"github.com/trajectory-arena/arena/internal/wrong"
)

// Domain is a kind of tasks with the tools that agents have for them.
type Domain struct {
	// Name identifies the domain in ledgers and manifests.
	Name string `yaml:"name"`
	// Title is the title of a dataset card, and Tags are tags of its own on the Hub.
	Title string   `yaml:"title"`
	Tags  []string `yaml:"tags"`
	// Authors are those whose texts the traces hold, which the card's licence names; models, tools
	// and people if there are none.
	Authors []string `yaml:"authors"`
	// Languages are the codes of the languages of the texts, such as en, which the card names. The
	// card names none if there are none.
	Languages []string `yaml:"languages"`
	// Card has the words of a card that differ from those of the domain base.
	Card CardWords `yaml:"card"`
	// Recognise says which attempts are of this domain.
	Recognise Recognise `yaml:"recognise"`
	// Tools are the tools of the agents by name.
	Tools map[string]Tool `yaml:"tools"`
	// Commit limits the calls that change the world for good.
	Commit Commit `yaml:"commit"`
	// Outcome says where the outcome of an attempt is.
	Outcome Outcome `yaml:"outcome"`
	// Unlogged decides on attempts of which no gateway kept a log, so that nothing shows who wrote
	// their calls: keep or drop.
	Unlogged string `yaml:"unlogged"`
	// Adaptivity is the formula of the instrument adaptivity: habits_v1 for tools that search, open
	// and answer, use_v1 for any tools.
	Adaptivity string `yaml:"adaptivity"`
	// Steps is the rule of the instrument steps: steps_v2 for a shop, or repeats_v1 for any tools.
	Steps string `yaml:"steps"`
	// Reading has patterns of path.Match with the names of the tools that change nothing.
	Reading []string `yaml:"reading"`
	// Identity has regular expressions that find in a request who asks, and about which of their
	// things: names, user ids, numbers of orders. The first group is the name, or the whole match.
	// The guard compares requests without these names, and only those that share one if both have
	// names of a kind.
	Identity []string `yaml:"identity"`
	// Lexicon has the currencies, units and synonyms by which the guard compares requests, beside the
	// units and words that it knows in every domain. Without rates it converts no amount of money.
	Lexicon arena.Lexicon `yaml:"lexicon"`
	// Evidence are the kinds of data that thinking may cite. Judges that ask a model, and pages on an
	// attempt, say which of these data earlier results have.
	Evidence []Evidence `yaml:"evidence"`
	// Rivals are the words of the rubric for what counts as an alternative.
	Rivals string `yaml:"rivals"`
	// Rubric is what judges that ask a model are told about the domain's attempts. Texts that are ""
	// are those of the domain base. In them {evidence} and {rivals} stand for the two keys above.
	Rubric Rubric `yaml:"rubric"`
	// Measured has the figures of each instrument that was measured on this domain.
	Measured map[string]Measurement `yaml:"measured"`

	// SHA256 is the hash of the file.
	SHA256 string `yaml:"-"`
}

// CardWords are texts of a dataset card.
type CardWords struct {
	// About says what the corpus is. In it {records} stands for the number of records that were
	// read, {rows} for that of the rows of config sft, {top} and {near} for the settings select.top
	// and select.near, {harness} and {harness_sha256} for the harness, and {rl} for a sentence on
	// config rl.
	About string `yaml:"about"`
	// Limits says what a reader must not conclude from the corpus.
	Limits string `yaml:"limits"`
	// Worth says what each filter (authorship, judge, guard) is worth to a student that is trained on
	// its rows, by measurements in this domain. It is "" if nothing was measured.
	Worth string `yaml:"worth,omitempty"`
}

// Recognise says which attempts are of a domain.
type Recognise struct {
	// Formats are formats of traces, as `arena list formats` names them.
	Formats []string `yaml:"formats"`
	// Tools are names of tools. At least two of them must be declared or called.
	Tools []string `yaml:"tools"`
}

// Tool is what a tool does.
type Tool struct {
	Role Role `yaml:"role"`
	// Words and IDs are the names of the arguments that are words of a search, and ids.
	Words []string `yaml:"words"`
	IDs   []string `yaml:"ids"`
}

// Role is the kind of a tool.
type Role string

// The kinds of tools.
const (
	RoleSearch Role = "search"        // finds things by words
	RoleWithin Role = "search_within" // finds things by words among those of one owner
	RoleOpen   Role = "open"          // shows one thing
	RoleMatch  Role = "match"         // compares a thing with the request
	RoleTotal  Role = "total"         // computes a figure from things, such as the price of several
	RoleAct    Role = "act"           // changes the world
	RoleAsk    Role = "ask"           // anything else
	RoleCommit Role = "commit"        // gives the answer, or makes the change that counts
	RoleEnd    Role = "end"           // ends the attempt
)

// Roles are all kinds of tools.
var Roles = []Role{RoleSearch, RoleWithin, RoleOpen, RoleMatch, RoleTotal, RoleAct, RoleAsk, RoleCommit, RoleEnd}

// Commit limits the calls of tools with the role commit in one attempt.
type Commit struct {
	// AtMost is the largest number of such calls, 0 for any number.
	AtMost int `yaml:"at_most"`
	// Needed reports whether an attempt without such a call is faulty.
	Needed bool `yaml:"needed"`
}

// Outcome says where the outcome of an attempt is.
type Outcome struct {
	// From is shop for the rules of the shop, verifier for the verdict in an episode of an
	// environment pack, or declared for the reward that the source states.
	From string `yaml:"from"`
	// Pass is the smallest declared reward of a solved attempt.
	Pass float64 `yaml:"pass"`
	// AgentErrors are the recorded errors that are the agent's own, as patterns of path.Match in
	// lower case. After any other error the outcome of a failed attempt is unknown.
	AgentErrors []string `yaml:"agent_errors"`
}

// The sources of outcomes.
const (
	FromShop     = "shop"
	FromVerifier = "verifier"
	FromDeclared = "declared"
)

// The decisions on attempts without a gateway's log.
const (
	UnloggedKeep = "keep"
	UnloggedDrop = "drop"
)

// The formulas of the instrument adaptivity.
const (
	HabitsV1 = "habits_v1"
	UseV1    = "use_v1"
)

// The rules of the instrument steps.
const (
	StepsV2   = "steps_v2"
	RepeatsV1 = "repeats_v1"
)

var namePattern = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// IsName reports whether a domain may have this name.
func IsName(name string) bool { return namePattern.MatchString(name) }

// Parse reads a domain from YAML. The error for an unknown key names the key that is most similar.
func Parse(text []byte) (*Domain, error) {
	d := &Domain{SHA256: digest.SHA256(text)}
	if err := strictyaml.Decode(text, d); err != nil {
		if nearest := strictyaml.Nearest(err, "", d); nearest != "" {
			err = fmt.Errorf("%w\ndid you mean %q?", err, nearest)
		}
		return nil, err
	}
	d.Adaptivity = cmp.Or(d.Adaptivity, HabitsV1)
	d.Steps = cmp.Or(d.Steps, StepsV2)
	return d, d.validate()
}

// validate returns an error that lists everything that is wrong with the domain.
func (d *Domain) validate() error {
	var bad wrong.List
	bad.Unless(namePattern.MatchString(d.Name), "name is %q: want lower-case letters, digits, - and _", d.Name)
	bad.Unless(d.Title != "", "title is empty: it is the title of the dataset card")
	bad.Unless(d.Unlogged == UnloggedKeep || d.Unlogged == UnloggedDrop, "unlogged is %q: want keep or drop", d.Unlogged)
	formulas := []string{HabitsV1, UseV1}
	bad.Unless(slices.Contains(formulas, d.Adaptivity), "adaptivity is %q: want one of %s", d.Adaptivity, join(formulas))
	rules := []string{StepsV2, RepeatsV1}
	bad.Unless(slices.Contains(rules, d.Steps), "steps is %q: want one of %s", d.Steps, join(rules))
	validatePatterns(&bad, "reading", d.Reading)
	d.Outcome.validate(&bad)
	bad.Unless(d.Commit.AtMost >= 0, "commit.at_most is %d: want 1 or more, or 0 for any number", d.Commit.AtMost)
	for _, name := range slices.Sorted(maps.Keys(d.Tools)) {
		role := d.Tools[name].Role
		bad.Unless(slices.Contains(Roles, role), "tools.%s.role is %q: want one of %s", name, role, join(Roles))
	}
	for _, pattern := range d.Identity {
		_, err := regexp.Compile(pattern)
		bad.Unless(err == nil, "identity has %q: want a regular expression", pattern)
	}
	validateLexicon(&bad, &d.Lexicon)
	d.validateEvidence(&bad)
	d.Rubric.Reasoning.validate("rubric.reasoning", &bad)
	d.Rubric.Steps.validate("rubric.steps", &bad)
	for _, name := range slices.Sorted(maps.Keys(d.Measured)) {
		m := d.Measured[name]
		m.validate(name, &bad)
	}
	return bad.Err()
}

func (o *Outcome) validate(bad *wrong.List) {
	sources := []string{FromShop, FromVerifier, FromDeclared}
	bad.Unless(slices.Contains(sources, o.From), "outcome.from is %q: want one of %s", o.From, join(sources))
	validatePatterns(bad, "outcome.agent_errors", o.AgentErrors)
}

// validatePatterns adds to bad the patterns of path.Match in the value of key that are malformed.
func validatePatterns(bad *wrong.List, key string, patterns []string) {
	for _, pattern := range patterns {
		_, err := path.Match(pattern, "")
		bad.Unless(err == nil, "%s has %q: want a pattern such as limit_*", key, pattern)
	}
}

// IsReading reports whether the domain says that a tool changes nothing.
func (d *Domain) IsReading(tool string) bool {
	return slices.ContainsFunc(d.Reading, func(pattern string) bool {
		ok, err := path.Match(pattern, tool)
		return err == nil && ok
	})
}

func join[T ~string](words []T) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = string(w)
	}
	return strings.Join(texts, ", ")
}

// HasRole reports whether a tool of the domain has a role.
func (d *Domain) HasRole(role Role) bool {
	for _, t := range d.Tools {
		if t.Role == role {
			return true
		}
	}
	return false
}
