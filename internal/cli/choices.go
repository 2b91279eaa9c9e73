package cli

import "agentctl/discover"

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
