package output

import (
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

// The colours of texts are readable on light and dark backgrounds: none is black, yellow or white, but for black on yellow.
func TestColorsAreReadable(t *testing.T) {
	var used []string
	for _, status := range []discover.Status{discover.Running, discover.Waiting, discover.Idle, discover.Stopped, discover.Unknown} {
		used = append(used, statusColor(&discover.Session{Record: &discover.Record{}, Status: status}), statusColor(&discover.Session{Record: &discover.Record{}, Status: status, Error: "x"}))
	}
	for _, state := range []discover.ToolState{
		discover.ToolOpen, discover.ToolRunning, discover.ToolWaiting, discover.ToolInterrupted, discover.ToolDone, discover.ToolFailed, discover.ToolRefused,
	} {
		used = append(used, stateColor(state))
	}
	for _, kind := range []discover.MessageKind{discover.KindText, discover.KindError, discover.KindInterruption, discover.KindCompaction} {
		for _, role := range []discover.Role{discover.RoleUser, discover.RoleAssistant, ""} {
			_, color := headerLabel(discover.Message{Kind: kind, Role: role})
			used = append(used, color)
		}
	}
	for _, color := range used {
		parameters := strings.Split(color, ";")
		pale := slices.ContainsFunc(parameters, func(p string) bool { return slices.Contains([]string{"30", "33", "37", "90", "93", "97"}, p) })
		if pale && color != "30;43" {
			t.Errorf("colour %q", color)
		}
	}
}
