package traces

import (
	"strconv"
	"strings"
	"time"

	"github.com/trajectory-arena/arena"
	"github.com/trajectory-arena/arena/internal/cursor"
)

// knownATIF reports whether a schema version is one of ATIF 1.0 to 1.7.
func knownATIF(schema string) bool {
	minor, ok := strings.CutPrefix(schema, "ATIF-v1.")
	return ok && len(minor) == 1 && minor <= "7" && minor >= "0"
}

// atifDoc is what a document says beside its steps.
type atifDoc struct {
	conversation
	d             *decoder
	session       string
	name, version string
	steps         arena.Kind
	// What the extra fields say: it may stand before the steps.
	taskID, status string
	query          *string
	noDialogue     bool
	vetoes         []string
}

// atif reads one trajectory document.
func (d *decoder) atif() (found, error) {
	doc := atifDoc{conversation: conversation{t: newTrace(arena.Source{Shape: "atif"})}, d: d}
	c := d.c
	c.Reset(c.Source())
	c.Fields(cursor.Fields{
		"session_id": cursor.AsID(&doc.session),
		"agent": cursor.Fields{
			"name":             &doc.name,
			"version":          cursor.AsID(&doc.version),
			"model_name":       &doc.t.Model,
			"tool_definitions": func() { doc.t.Tools = d.tools() },
		},
		"steps": func() {
			doc.steps = c.Kind()
			doc.restart()
			doc.asked, doc.t.Query = false, ""
			c.Array(doc.readStep)
		},
		"final_metrics": cursor.Fields{"extra": doc.extra},
		"extra":         doc.extra,
	})
	if err := c.End(); err != nil {
		return found{}, err
	}
	if doc.steps != arena.Array {
		return found{}, wrongType("steps", "an array", doc.steps)
	}
	doc.applyExtra()
	if own := doc.status != ""; !own && doc.t.Agent.VersionID == "" {
		doc.t.Agent.VersionID = doc.agentName()
	}
	return found{trace: doc.t, session: doc.session}, nil
}

// agentName is name@version, without what is missing or said to be unknown.
func (doc *atifDoc) agentName() string {
	const unknown = "unknown"
	if doc.name == unknown {
		return ""
	}
	if doc.name == "" || doc.version == "" || doc.version == unknown {
		return doc.name
	}
	return doc.name + "@" + doc.version
}

// moment is a time as Unix milliseconds: ATIF writes ISO 8601, with or without
// a zone. Anything else stays what it is.
func moment(raw arena.Raw) arena.Raw {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, raw.Text()); err == nil {
			return arena.Raw(strconv.FormatInt(at.UnixMilli(), 10))
		}
	}
	return raw
}
