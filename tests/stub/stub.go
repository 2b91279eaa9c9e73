// Package stub has an agent for tests, whose storage and processes are made up.
package stub

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/proctest"
)

// Adapter is an adapter whose storage and claims are fields.
type Adapter struct {
	discover.Defaults
	Agent     discover.Agent
	Bin       string
	HomeList  []discover.Home // without them, one of ours
	Records   []discover.Record
	ClaimList []discover.Claim
	// Warning is why not all entries are listed.
	Warning error
	// Transcripts are the messages of sessions by ID, the oldest first; ReadErr is why what is before them cannot be read.
	Transcripts map[string][]discover.Message
	ReadErr     error
	// Answers is what sessions used, by ID.
	Answers map[string][]discover.Usage
	// Opened has the IDs of the sessions whose content was read; OnRead is called before each batch. They may be nil.
	Opened *[]string
	OnRead func()
}

// Name implements [discover.Adapter].
func (a Adapter) Name() discover.Agent { return a.Agent }

// Program implements [discover.Adapter].
func (a Adapter) Program() string { return a.Bin }

// Homes implements [discover.Adapter].
func (a Adapter) Homes(from discover.HomeSources, _ *proc.Table) []discover.Home {
	homes := slices.Clone(a.HomeList)
	if homes == nil {
		homes = []discover.Home{{Dir: "/h", FromUser: true}}
	}
	for _, dir := range from.Configured {
		homes = append(homes, discover.Home{Dir: dir, FromUser: true, Explicit: true})
	}
	return homes
}

// MarkerKeys implements [discover.Adapter].
func (a Adapter) MarkerKeys() []string {
	return []string{"MARK", "MARK_ROOT", "MARK_PID", "MARK_LASTS"}
}

// ReadMarker implements [discover.Adapter].
func (a Adapter) ReadMarker(env func(string) string) (discover.EnvMarker, bool) {
	pid, _ := strconv.Atoi(env("MARK_PID"))
	marker := discover.EnvMarker{Session: env("MARK"), Root: env("MARK_ROOT"), PID: pid, OutlivesSession: env("MARK_LASTS") != ""}
	return marker, marker != discover.EnvMarker{}
}

// IsAgentProcess implements [discover.Adapter].
func (a Adapter) IsAgentProcess(p proc.Process) bool { return p.Name == "agent" }

// Claims implements [discover.Adapter].
func (a Adapter) Claims(context.Context, *proc.Table, []discover.Home) ([]discover.Claim, error) {
	return a.ClaimList, nil
}

// Entries implements [discover.Adapter].
func (a Adapter) Entries(_ context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	var out []discover.Entry
	for _, r := range a.Records {
		byRef := len(q.Refs) == 0 || slices.ContainsFunc(q.Refs, func(f discover.Ref) bool { return f.ID == r.ID })
		byHome := a.HomeList == nil || slices.ContainsFunc(homes, func(h discover.Home) bool { return h.Dir == r.Home })
		if byRef && byHome && (q.Parents == nil || r.IsSubagent()) && strings.HasPrefix(r.ID, q.ID) && !r.Updated.Before(q.Since) {
			out = append(out, discover.Entry{
				Agent: a.Agent, ID: r.ID, Path: r.Path, Home: r.Home, Updated: r.Updated, Size: 100, Parent: r.Parent,
			})
		}
	}
	return out, a.Warning
}

// Read implements [discover.Adapter].
func (a Adapter) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		if a.OnRead != nil {
			a.OnRead()
		}
		for _, e := range entries {
			for _, r := range a.Records {
				if r.ID != e.ID || r.Path != e.Path {
					continue
				}
				if a.Opened != nil {
					*a.Opened = append(*a.Opened, r.ID)
				}
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// ReadUsage implements [discover.Adapter].
func (a Adapter) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return func(yield func(*discover.SessionUsage, error) bool) {
		for r, err := range a.Read(ctx, entries, discover.ReadOptions{Tokens: true}) {
			if !yield(&discover.SessionUsage{Record: r, Usage: slices.Clone(a.Answers[r.ID])}, err) {
				return
			}
		}
	}
}

// Messages implements [discover.Messenger].
func (a Adapter) Messages(_ context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		for _, m := range slices.Backward(a.Transcripts[r.ID]) {
			if !yield(m, nil) {
				return
			}
		}
		if a.ReadErr != nil {
			yield(discover.Message{}, a.ReadErr)
		}
	}
}

// At is a time of the records, in minutes.
func At(minute int) time.Time { return time.Unix(int64(minute)*60, 0).UTC() }

// Record is a stored session whose turn is done.
func Record(agent discover.Agent, id string, minute int) discover.Record {
	return discover.Record{Agent: agent, ID: id, Path: "/p/" + id, Home: "/h", Dir: "/w", Updated: At(minute), Turn: discover.Turn{State: discover.TurnDone}}
}

// ExactClaim says that a process runs a session of codex.
func ExactClaim(id string, pid int) discover.Claim {
	return discover.Claim{Agent: "codex", Process: proc.ID{PID: pid, Birth: "now"}, Session: id, Path: "/p/" + id, Strength: discover.Exact, Kind: "lock"}
}

// Process is a live process that began as many seconds after 1970 as its pid says.
func Process(pid int, birth string, state proc.State) proctest.Process {
	return proctest.Process{Process: proc.Process{
		ID: proc.ID{PID: pid, Birth: birth}, State: state, Parent: 1, Ticks: uint64(pid),
		Started: time.Unix(int64(pid), 0).UTC(),
	}}
}

// NewScanner returns a scanner of these agents, without environment.
func NewScanner(table func() *proc.Table, adapters ...discover.Adapter) *discover.Scanner {
	return &discover.Scanner{
		Adapters: adapters,
		HomeSources: func(discover.Agent) discover.HomeSources {
			return discover.HomeSources{Getenv: func(string) string { return "" }}
		},
		ReadTable: func(context.Context, bool) (*proc.Table, error) { return table(), nil },
	}
}

// Statuses are the IDs of sessions with their statuses.
func Statuses(sessions []discover.Session) string {
	var out []string
	for _, s := range sessions {
		out = append(out, s.ID+":"+string(s.Status))
	}
	return strings.Join(out, " ")
}
