package claudecode

import (
	"agentctl/discover"
	"agentctl/launch"
)

// StoreCommand implements [launch.StoreManager]: Claude Code has no such commands (2.1.330).
func (a Adapter) StoreCommand(action launch.StoreAction, _ discover.Session, _ launch.Environment) (launch.Command, error) {
	what := "has no command that archives or restores a session"
	if action == launch.ActionRemove {
		what = "has no command that deletes a session: it deletes what has not changed for cleanupPeriodDays, a setting in its settings.json, 30 by default"
	}
	return launch.Command{}, &launch.UnsupportedError{Agent: a.Name(), What: what}
}
