package cmdutil

import (
	"agentctl/discover"
	"agentctl/discover/watch"
)

func EventTypes() []string {
	return []string{
		string(watch.SessionStarted), string(watch.SessionRunning), string(watch.SessionWaiting),
		string(watch.SessionIdle), string(watch.SessionError), string(watch.SessionStopped),
	}
}

// Statuses are the words that --status takes.
func Statuses() []string {
	return []string{
		string(discover.Running), string(discover.Waiting), string(discover.Idle),
		string(discover.Stopped), string(discover.Unknown),
	}
}

func UsageGroups() []string {
	return []string{"day", "week", "month", "project", "model", "agent", "session"}
}

// DiskGroups are the words that --by of du takes.
func DiskGroups() []string { return []string{"session", "project", "agent", "month"} }

func Schemas() []string { return []string{"config"} }
