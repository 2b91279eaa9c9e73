package codex

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// StopSignals end `codex exec` and a TUI that runs its own threads. At SIGINT, exec records that the turn was interrupted, ends its tools
// and releases its lock. At SIGTERM it just exits (SEEN 0.169).
func (Adapter) StopSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}
}

// NeedsInterrupt implements [launch.Stopper]. The daemon behind the TUIs of a home runs the threads of all of them.
func (Adapter) NeedsInterrupt(s discover.Session) bool {
	_, path := serverOf(s)
	return path != ""
}

// serverOf returns the app-server with a socket that runs a session; "" if none does.
func serverOf(s discover.Session) (server proc.Process, socket string) {
	for _, p := range s.Processes {
		if path := serverSocket(p); path != "" {
			return p, path
		}
	}
	return proc.Process{}, ""
}

// Interrupt interrupts the turns of a session and its sub-agents if an app-server with a socket runs them: the daemon behind the TUIs of
// a home. It also ends the commands of their tools, which an interrupted turn leaves to the daemon. The thread stays loaded and idle.
// Other servers do not accept it: only their clients can talk to them.
func (Adapter) Interrupt(ctx context.Context, s discover.Session, _ launch.Environment) (accepted bool, err error) {
	server, path := serverOf(s)
	if path == "" {
		return false, nil
	}
	c, err := ask(ctx, path, server)
	if err != nil {
		return false, err
	}
	defer c.close()
	return c.interruptTree(ctx, s.ID)
}

// ask opens a connection to a server. The error says whom it was for.
func ask(ctx context.Context, path string, server proc.Process) (*rpcClient, error) {
	c, err := connect(ctx, path, server)
	switch {
	case errors.Is(err, proc.ErrOtherPeer):
		return nil, fmt.Errorf("another process than %s listens on %s, and is not asked", server.ID, path)
	case err != nil:
		return nil, fmt.Errorf("asking the app-server at %s: %w", path, err)
	}
	return c, nil
}

// controlSocket is the socket of a home's daemon, a link into a directory for sockets (SEEN 0.169).
const controlSocket = "app-server-control/app-server-control.sock"

// serverSocket is the socket that an app-server listens on, "" for a server without one and for any other process.
func serverSocket(p proc.Process) string {
	args, _ := p.Args() // if they cannot be read, no server is found
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

// interruptPoll is the interval at which threads that are being interrupted are read again.
const interruptPoll = 20 * time.Millisecond

// interruptTree interrupts a thread and its sub-agents until none is active and none of their commands runs. Interrupting one does not
// end the others, and a queued turn begins when the one before it ends. It is not accepted if the server has not loaded the thread:
// then another process runs it.
func (c *rpcClient) interruptTree(ctx context.Context, id string) (accepted bool, err error) {
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

// interruptThread interrupts a thread and reports whether it was active or ran a command. An empty turn ID means the turn in progress; the
// server answers before it has ended. Commands are ended only after the turn: until then there may be more.
func (c *rpcClient) interruptThread(t loadedThread) (working bool, err error) {
	params := map[string]any{"threadId": t.id}
	if t.active {
		_, err = c.call("turn/interrupt", map[string]any{"threadId": t.id, "turnId": ""})
		return true, ignoreRefusal(err)
	}
	list, err := c.call("thread/backgroundTerminals/list", params)
	if err != nil {
		return false, ignoreRefusal(err) // experimental: a version without the method leaves the commands to the caller
	}
	for range list.Get("data").Elements() {
		_, err = c.call("thread/backgroundTerminals/clean", params)
		return err == nil, ignoreRefusal(err)
	}
	return false, nil
}

// ignoreRefusal returns nil for an [rpcError]: the thread was unloaded, or its turn ended, before the request came. The next poll shows it.
func ignoreRefusal(err error) error {
	if r := (*rpcError)(nil); errors.As(err, &r) {
		return nil
	}
	return err
}
