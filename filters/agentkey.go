package filters

import (
	"cmp"

	"github.com/trajectory-arena/arena"
)

// AgentOf names the agent whose day an attempt belongs to, by the most precise
// thing that is known of it.
func AgentOf(t *arena.Trace) string { return cmp.Or(t.Agent.VersionID, t.Agent.Hotkey, t.RunID) }
