package export

import _ "embed" // the check itself

// Preflight is a Python program that renders an export through chat templates
// and reads the tool calls back. Its arguments are the folder and the
// templates; it needs jinja2 and pyarrow.
//
//go:embed assets/preflight.py
var Preflight string
