// Package docs holds pages that the program itself shows.
package docs

import _ "embed"

// Reasons is the page of all reasons for which a record or a row is left out.
//
//go:embed reasons.md
var Reasons string
