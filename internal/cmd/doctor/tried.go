package doctor

import (
	"context"
	"errors"
	"slices"
	"strings"

	"agentctl/discover"
)

// triedFindings compares what runs of an agent with what agentctl was tried with.
type triedFindings struct {
	// NewestTried is the newest version of the agent in docs/support.md.
	NewestTried string `json:"newestTried,omitempty"`
	// NewerVersions are those of live agents that are newer.
	NewerVersions []string `json:"newerVersions,omitempty"`
	// UnknownKinds are kinds of records that live sessions have stored and that agentctl does not know.
	UnknownKinds []string `json:"unknownKinds,omitempty"`
}

func examineTried(ctx context.Context, scanner *discover.Scanner, a discover.Adapter, live []discover.Session) (t triedFindings, err error) {
	tried := a.Tried()
	if tried.Newest == "" {
		return t, nil
	}
	t.NewestTried = tried.Newest
	for _, s := range live {
		if s.Agent != a.Name() || s.Status == discover.Stopped {
			continue
		}
		if v := tried.NewerVersion(s); v != "" {
			t.NewerVersions = append(t.NewerVersions, v)
		}
		kinds, unread := scanner.UnknownKinds(ctx, s)
		t.UnknownKinds = append(t.UnknownKinds, kinds...)
		err = errors.Join(err, unread)
	}
	t.NewerVersions, t.UnknownKinds = sortedSet(t.NewerVersions), sortedSet(t.UnknownKinds)
	return t, err
}

func sortedSet(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// warning returns what the user should know, "" if there is nothing.
func (t triedFindings) warning(agent string) string {
	var parts []string
	if len(t.NewerVersions) > 0 {
		parts = append(parts, "a live session runs "+strings.Join(t.NewerVersions, ", ")+", and agentctl was tried up to "+t.NewestTried)
	}
	if len(t.UnknownKinds) > 0 {
		parts = append(parts, "live sessions have records of kinds that agentctl does not know: "+strings.Join(t.UnknownKinds, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return agent + ": " + strings.Join(parts, "; ") + "; what it says of them may be incomplete"
}
