package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// StopSignals is what ends `codex exec` and a TUI that runs its own threads. SIGINT lets exec note that the turn was
// interrupted, end its tools and release its lock; SIGTERM ends it as it stands (SEEN 0.169).
func (Adapter) StopSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
}

// NeedsInterrupt implements [launch.Stopper]: the daemon behind the TUIs of a home runs the threads of all.
func (Adapter) NeedsInterrupt(s discover.Session) bool {
	return slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return serverSocket(p) != "" })
}

// Interrupt interrupts the turn of a session that an app-server with a socket runs – the daemon behind the TUIs of a home – and
// the turns of its sub-agents, and ends the commands that their tools still run: an interrupted turn leaves them to
// the daemon. The thread stays loaded, idle. Other servers, which only their client can talk to, are not handled.
func (Adapter) Interrupt(ctx context.Context, s discover.Session, _ launch.Environment) (handled bool, err error) {
	i := slices.IndexFunc(s.Processes, func(p proc.Process) bool { return serverSocket(p) != "" })
	if i < 0 {
		return false, nil
	}
	server := s.Processes[i]
	path := serverSocket(server)
	c, err := connect(ctx, path, server)
	if errors.Is(err, proc.ErrOtherPeer) {
		return false, fmt.Errorf("another process than %s listens on %s, and is not asked", server.ID, path)
	}
	if err != nil {
		return false, fmt.Errorf("asking the app-server at %s: %w", path, err)
	}
	defer c.close()
	return c.interruptTree(ctx, s.ID)
}

// controlSocket is where the daemon of a home listens; a link to a folder for sockets (SEEN 0.169).
const controlSocket = "app-server-control/app-server-control.sock"

// serverSocket is where an app-server listens, "" for one that does not do so on a socket, and for any other process.
func serverSocket(p proc.Process) string {
	args, _ := p.Args() // what cannot be read tells of no server
	in := parseArgs(args)
	path, ok := strings.CutPrefix(in.listen, "unix://")
	switch home := processHome(p); {
	case !ok || in.role != server:
		return ""
	case filepath.IsAbs(path):
		return path
	case path == "" && home != "":
		return filepath.Join(home, controlSocket)
	}
	return ""
}

// interruptPoll is the time between two looks at threads that are being interrupted.
const interruptPoll = 20 * time.Millisecond

// interruptTree interrupts a thread and its sub-agents until none of them works and none of their commands runs. Interrupting
// one does not end the others, and what was queued begins when the turn before it ends. It is not handled if the server
// has not loaded the thread: then it is not the one that runs it.
func (c *rpcClient) interruptTree(ctx context.Context, id string) (handled bool, err error) {
	for {
		threads, err := c.threadTree(id)
		if err != nil || len(threads) == 0 {
			return false, err
		}
		busy := false
		for _, t := range threads {
			working, err := c.interruptThread(t)
			if err != nil {
				return false, err
			}
			busy = busy || working
		}
		if !busy {
			return true, nil
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(interruptPoll):
		}
	}
}

// interruptThread asks a thread to end what it does, and reports whether there was anything. Without a turn's id the turn in
// progress is meant, and the answer does not wait for its end. The commands are for the time after it: until then there
// may be more.
func (c *rpcClient) interruptThread(t loadedThread) (working bool, err error) {
	params := map[string]any{"threadId": t.id}
	if t.active {
		_, err = c.call("turn/interrupt", map[string]any{"threadId": t.id, "turnId": ""})
		return true, ignoreRefusal(err)
	}
	list, err := c.call("thread/backgroundTerminals/list", params)
	if err != nil {
		return false, ignoreRefusal(err) // experimental: a version that does not know them leaves the commands to us
	}
	for range list.Get("data").Elements() {
		_, err = c.call("thread/backgroundTerminals/clean", params)
		return err == nil, ignoreRefusal(err)
	}
	return false, nil
}

// ignoreRefusal drops a refusal: the thread was unloaded or its turn over before the question came, which the next look
// shows.
func ignoreRefusal(err error) error {
	if r := (*rpcError)(nil); errors.As(err, &r) {
		return nil
	}
	return err
}
