package watch

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/proctest"
)

// testAdapter is an adapter whose storage and claims are fields.
type testAdapter struct {
	discover.Defaults
	homes   []discover.Home // without them, one of ours
	agent   discover.Agent
	claims  []discover.Claim
	records []discover.Record
	// opened counts the sessions whose content was read.
	opened *[]string
}

func (m testAdapter) Name() discover.Agent { return m.agent }
func (m testAdapter) Homes(discover.HomeSources, *proc.Table) []discover.Home {
	if m.homes != nil {
		return slices.Clone(m.homes)
	}
	return []discover.Home{{Dir: "/h", FromUser: true}}
}

func (m testAdapter) Claims(context.Context, *proc.Table, []discover.Home) ([]discover.Claim, error) {
	return m.claims, nil
}

func (m testAdapter) Entries(_ context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	var out []discover.Entry
	for _, r := range m.records {
		byRef := len(q.Refs) == 0 || slices.ContainsFunc(q.Refs, func(f discover.Ref) bool { return f.ID == r.ID })
		byHome := m.homes == nil || slices.ContainsFunc(homes, func(h discover.Home) bool { return h.Dir == r.Home })
		if byRef && byHome && strings.HasPrefix(r.ID, q.ID) && !r.Updated.Before(q.Since) {
			out = append(out, discover.Entry{Agent: m.agent, ID: r.ID, Path: r.Path, Home: "/h", Updated: r.Updated})
		}
	}
	return out, nil
}

func (m testAdapter) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for _, e := range entries {
			for _, r := range m.records {
				if r.ID == e.ID && r.Path == e.Path {
					if m.opened != nil {
						*m.opened = append(*m.opened, r.ID)
					}
					if !yield(r, nil) {
						return
					}
				}
			}
		}
	}
}

func at(minute int) time.Time { return time.Unix(int64(minute)*60, 0).UTC() }

func record(agent discover.Agent, id string, minute int) discover.Record {
	return discover.Record{Agent: agent, ID: id, Path: "/p/" + id, Home: "/h", Dir: "/w", Updated: at(minute), Turn: discover.Turn{State: discover.TurnDone}}
}

func newScanner(table func() *proc.Table, adapters ...discover.Adapter) *discover.Scanner {
	return &discover.Scanner{
		Adapters: adapters,
		HomeSources: func(discover.Agent) discover.HomeSources {
			return discover.HomeSources{Getenv: func(string) string { return "" }}
		},
		ReadTable: func(context.Context) (*proc.Table, error) { return table(), nil },
	}
}

func idsAndStatuses(sessions []discover.Session) string {
	var out []string
	for _, s := range sessions {
		out = append(out, s.ID+":"+string(s.Status))
	}
	return strings.Join(out, " ")
}

func exactClaim(id string, pid int) discover.Claim {
	return discover.Claim{Agent: "codex", Process: proc.ID{PID: pid, Birth: "now"}, Session: id, Path: "/p/" + id, Strength: discover.Exact, Kind: "lock"}
}

func fakeProcess(pid int, birth string, state proc.State) proctest.Process {
	return proctest.Process{Process: proc.Process{
		ID: proc.ID{PID: pid, Birth: birth}, State: state, Parent: 1, Ticks: uint64(pid),
		Started: time.Unix(int64(pid), 0).UTC(),
	}}
}
