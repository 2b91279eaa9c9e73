// Package quiet says of running sessions since when nothing of them has moved. It states what storage and the kernel show, and judges
// nothing.
package quiet

import (
	"context"
	"errors"
	"os"
	"time"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/proc"
)

// Quiet is a running session of which nothing moves: neither its storage, nor the files that its processes write, nor its connections, nor
// what its processes run.
type Quiet struct {
	// Since is when something has moved last, as far as that can be seen.
	Since time.Time
	// OpenCall is the call without a result; nil if there is none, or it is not known.
	OpenCall *discover.WaitingOn
	// ChildrenCPU is the processor time of the processes that the agent has started, in parts of one processor, while they were measured.
	ChildrenCPU float64
	// Connections are the open TCP connections of the agent and its tools to others.
	Connections int
	// Suspended: a signal has stopped the agent's process. WatchesFiles: a tool of the turn waits for changes of files, as tail -f does.
	Suspended, WatchesFiles bool
	// MayAwaitModel: the agent has a connection open, and waits for no process: the model may be thinking.
	MayAwaitModel bool
}

// IsExplained reports whether what is seen explains that nothing moves.
func (q *Quiet) IsExplained() bool { return q.Suspended || q.WatchesFiles || q.MayAwaitModel }

const (
	// Least is the shortest time that counts: models and agents often pause for some seconds.
	Least = 10 * time.Second
	// sampleTime is how long one call measures processor time: many times the clock tick of 10 ms, and hardly felt.
	sampleTime = 250 * time.Millisecond
	// busyTools and busyAgent are the parts of a processor from which on tools, or the agent itself, count as at work. An idle server
	// (MCP, language) takes less than one, the animation of a terminal interface less than the other.
	busyTools, busyAgent = 0.04, 0.5
)

// Observer observes running sessions. The more often it is asked, the more it has seen. The zero value has seen nothing.
type Observer struct {
	// Sockets reads the TCP sockets; nil is [proc.ReadTCPSockets].
	Sockets func() ([]proc.TCPSocket, error)

	at    time.Time
	used  map[proc.ID]time.Duration
	moved map[discover.Key]time.Time
}

// Find returns the quiet ones of the sessions of a result, by their index. It measures for a moment if any seems quiet.
func Find(ctx context.Context, scanner *discover.Scanner, r discover.Result, trees *ancestry.Trees) map[int]*Quiet {
	var o Observer
	found := o.Observe(scanner, r, trees)
	if len(found) == 0 {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(sampleTime):
		return o.Observe(scanner, r, trees)
	}
}

// Observe returns the sessions of a result that have been quiet for [Least], by their index. Processor time counts from the second call on.
func (o *Observer) Observe(scanner *discover.Scanner, r discover.Result, trees *ancestry.Trees) map[int]*Quiet {
	now, before := time.Now(), *o
	o.at, o.used, o.moved = now, map[proc.ID]time.Duration{}, map[discover.Key]time.Time{}
	found := map[int]*Quiet{}
	var sockets []proc.TCPSocket
	var err error
	for i, s := range r.Sessions {
		since := s.LastActivity()
		if s.Status != discover.Running || len(s.Processes) == 0 || since.IsZero() {
			continue
		}
		if sockets == nil {
			read := o.Sockets
			if read == nil {
				read = proc.ReadTCPSockets
			}
			if sockets, err = read(); err != nil {
				return nil // nobody can say that no connection moves
			}
		}
		if info, err := os.Stat(s.Path); err == nil && !discover.AdapterOf(scanner.Adapters, s.Agent).IsStoreFile(s.Path) {
			since = later(since, info.ModTime())
		}
		v := view{session: s, tree: trees.Tree(s), sockets: sockets, Quiet: Quiet{Since: later(since, before.moved[s.Key()]), OpenCall: s.Turn.OpenCall}}
		if !v.look() {
			continue
		}
		v.measure(o, &before)
		o.moved[s.Key()] = v.Since
		if now.Sub(v.Since) >= Least {
			found[i] = &v.Quiet
		}
	}
	return found
}

// view is one look at a session.
type view struct {
	Quiet
	session discover.Session
	tree    []ancestry.Node
	sockets []proc.TCPSocket
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// look reads what the processes show of the last time that something moved. It is false if that cannot be read.
func (v *view) look() bool {
	owner := map[uint64]bool{} // of the sockets: whether the agent has it
	tools := false
	for _, node := range v.tree {
		if len(node.Sessions) > 0 {
			continue
		}
		a, err := node.Activity()
		if errors.Is(err, proc.ErrGone) {
			continue
		}
		if c, denied := node.Credentials(); err != nil || denied != nil || c.Unshared&proc.NetworkNamespace != 0 && v.session.HasProcess(node.ID) {
			return false
		}
		v.Since = later(v.Since, a.LastOutput)
		agent := v.session.HasProcess(node.ID)
		for inode := range a.Sockets {
			owner[inode] = owner[inode] || agent
		}
		if agent {
			v.Suspended = v.Suspended || node.State.Stopped()
			continue
		}
		v.Since = later(later(v.Since, node.Started), a.LastWrite)
		if !node.StartedBefore(v.session.Turn.Began) { // a tool of the turn, not a server that lives as long as the agent
			tools = true
			v.Since, v.WatchesFiles = later(v.Since, a.LastRun), v.WatchesFiles || a.WatchesFiles
		}
	}
	v.lookAtConnections(owner, tools)
	return true
}

// lookAtConnections counts the connections to others. Those that were accepted, and those within the tree, are of clients: they say
// nothing of the model.
func (v *view) lookAtConnections(owner map[uint64]bool, tools bool) {
	listens, own := map[uint16]bool{}, map[string]bool{}
	for _, s := range v.sockets {
		if _, ours := owner[s.Inode]; ours && s.Listens {
			listens[s.Local.Port()] = true
		} else if ours {
			own[s.Local.String()] = true
		}
	}
	for _, s := range v.sockets {
		agent, ours := owner[s.Inode]
		if !ours || s.Listens || listens[s.Local.Port()] || own[s.Remote.String()] {
			continue
		}
		v.Connections++
		v.Since = later(v.Since, s.LastMoved)
		v.MayAwaitModel = v.MayAwaitModel || agent && (v.OpenCall == nil || !tools)
	}
}

// measure compares the processor time of the tree with that of the last observation.
func (v *view) measure(o, before *Observer) {
	var tools, agent time.Duration
	for _, node := range v.tree {
		used, err := node.Usage()
		if err != nil || len(node.Sessions) > 0 {
			continue
		}
		o.used[node.ID] = used.CPU
		was, known := before.used[node.ID]
		switch spent := used.CPU - was; {
		case !known:
		case v.session.HasProcess(node.ID):
			agent += spent
		default:
			tools += spent
		}
	}
	if elapsed := o.at.Sub(before.at).Seconds(); !before.at.IsZero() && elapsed > 0 {
		v.ChildrenCPU = tools.Seconds() / elapsed
		if v.ChildrenCPU >= busyTools || agent.Seconds()/elapsed >= busyAgent {
			v.Since = o.at
		}
	}
}
