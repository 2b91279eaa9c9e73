package codex

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// NeedsInterrupt implements [launch.Adapter]. The daemon behind the TUIs of a home runs the threads of all of them.
func (Adapter) NeedsInterrupt(s discover.Session) bool {
	return serverOf(s).socket != ""
}

// serverOf returns the app-server with a socket that runs a session. The socket is "" if none does.
func serverOf(s discover.Session) appServer {
	for _, p := range s.Processes {
		if path := serverSocket(p); path != "" {
			return appServer{p, path}
		}
	}
	return appServer{}
}

// Interrupt interrupts the turns of a session and its sub-agents if an app-server with a socket runs them: the daemon behind the TUIs of
// a home. It also ends the commands of their tools, which an interrupted turn leaves to the daemon. The thread stays loaded and idle.
// Other servers do not accept it: only their clients can talk to them.
func (Adapter) Interrupt(ctx context.Context, s discover.Session, _ launch.Environment) (accepted bool, err error) {
	server := serverOf(s)
	if server.socket == "" {
		return false, nil
	}
	c, err := server.ask(ctx)
	if err != nil {
		return false, err
	}
	defer c.Hangup()
	return c.interruptTree(ctx, s.ID)
}

// controlSocket is the socket of a home's daemon, a link into a directory for sockets (SEEN 0.169).
const controlSocket = "app-server-control/app-server-control.sock"

// serverSocket is the socket that an app-server listens on, "" for a server without one and for any other process.
func serverSocket(p proc.Process) string {
	in := readArgs(p)
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

// rpcPoll is the interval at which a server is asked again for the state of a thread.
const rpcPoll = 20 * time.Millisecond

// interruptTree interrupts a thread and its sub-agents until none is active and none of their commands runs. Interrupting one does not
// end the others, and a queued turn begins when the one before it ends. It is not accepted if the server has not loaded the thread:
// then another process runs it.
func (r *rpcClient) interruptTree(ctx context.Context, id string) (accepted bool, err error) {
	for {
		threads, err := r.threadTree(id)
		if err != nil || len(threads) == 0 {
			return false, err
		}
		busy := false
		for _, t := range threads {
			working, err := r.interruptThread(t)
			if err != nil {
				return false, err
			}
			busy = busy || working
		}
		if !busy {
			return true, nil
		}
		if err := pause(ctx); err != nil {
			return false, err
		}
	}
}

// pause waits until the server is to be asked again. Error: ctx's, if it ends before.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rpcPoll):
		return nil
	}
}

// interruptThread interrupts a thread and reports whether it was active or ran a command. An empty turn ID means the turn in progress; the
// server answers before it has ended. Commands are ended only after the turn: until then there may be more.
func (r *rpcClient) interruptThread(t loadedThread) (working bool, err error) {
	params := map[string]any{"threadId": t.id}
	if t.active {
		_, err = r.Call("turn/interrupt", map[string]any{"threadId": t.id, "turnId": ""})
		return true, ignoreRefusal(err)
	}
	list, err := r.Call("thread/backgroundTerminals/list", params)
	if err != nil {
		return false, ignoreRefusal(err) // experimental: a version without the method leaves the commands to the caller
	}
	for range list.Get("data").Elements() {
		_, err = r.Call("thread/backgroundTerminals/clean", params)
		return err == nil, ignoreRefusal(err)
	}
	return false, nil
}

// ignoreRefusal returns nil for an [launch.RPCError]: the thread was unloaded, or its turn ended, before the request came. The next poll shows it.
func ignoreRefusal(err error) error {
	if _, ok := errors.AsType[*launch.RPCError](err); ok {
		return nil
	}
	return err
}

// tuiServer is the name of the MCP server that a terminal runs for the daemon's threads that it has loaded. The daemon says at which
// port it listens: that is which terminal has loaded a thread (SEEN 0.160–0.171).
const tuiServer = "codex_tui"

// FindClients implements [launch.Adapter]. The daemon says which terminal has loaded each thread. A terminal that has loaded several that
// are still there shows one of them. One that has loaded none shows a thread that another has loaded: by its command line, or any.
func (Adapter) FindClients(ctx context.Context, s discover.Session, _ launch.Environment) (sure, possible []proc.Process, err error) {
	server := serverOf(s)
	if server.socket == "" {
		return s.Clients, s.PossibleClients(), nil
	}
	table, err := proc.ReadTable(ctx, false)
	if err != nil {
		return nil, nil, err
	}
	c, err := server.ask(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer c.Hangup()
	loaded, err := c.threadsByPort()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range terminalsOf(ctx, table, server) {
		var has []string
		ports, err := t.ListenPorts()
		for _, port := range ports {
			has = append(has, loaded[port]...)
		}
		switch {
		case slices.Equal(has, []string{s.ID}), len(has) == 0 && t.session == s.ID:
			sure = append(sure, t.Process)
		case slices.Contains(has, s.ID), err != nil, len(has) == 0 && t.session == "" && (len(ports) > 0 || t.remoteTUI):
			possible = append(possible, t.Process)
		}
	}
	return sure, possible, nil
}

// terminalsOf returns the terminals that are clients of a server: those of the daemon's home, and those whose arguments name its socket.
func terminalsOf(ctx context.Context, table *proc.Table, server appServer) (list []client) {
	daemon, home := readArgs(server.Process).isDaemon, discover.RealPath(processHome(server.Process))
	c := claimBuilder{ctx: ctx}
	for p := range candidates(table, nil) {
		c.addProcess(table, p)
	}
	for _, t := range c.clients {
		isOfHome := daemon && !t.remoteTUI && discover.RealPath(processHome(t.Process)) == home
		remote, unix := strings.CutPrefix(t.remote, "unix://")
		if t.UID == server.UID && (isOfHome || t.remoteTUI && unix && discover.RealPath(remote) == discover.RealPath(server.socket)) {
			list = append(list, t)
		}
	}
	return list
}

// threadsByPort returns the loaded threads, but for sub-agents and those that are not stored, by the port of the terminal that has loaded
// them.
func (r *rpcClient) threadsByPort() (map[int][]string, error) {
	all, err := r.loadedThreads()
	if err != nil {
		return nil, err
	}
	byPort := map[int][]string{}
	for _, t := range all {
		if t.ephemeral || t.parent != "" || t.root != "" && t.root != t.id {
			continue
		}
		list, err := r.Call("mcpServerStatus/list", map[string]string{"threadId": t.id, "serverName": tuiServer, "detail": "toolsAndAuthOnly"})
		if err = ignoreRefusal(err); err != nil {
			return nil, err
		}
		for v := range list.Get("data").Elements() {
			origin, err := url.Parse(v.Object().Get("httpOrigin").Text(0))
			if err != nil || v.Object().Get("name").Text(0) != tuiServer {
				continue
			}
			if port, err := strconv.Atoi(origin.Port()); err == nil {
				byPort[port] = append(byPort[port], t.id)
			}
		}
	}
	return byPort, nil
}

// Unload implements [launch.Adapter]. The daemon unloads a thread about a minute after its last terminal has left it, or at once when it is
// archived; it is unarchived in the same moment. A thread without a prompt is left to the daemon: to be archived, it would be stored. Of
// other servers, whose clients may be anything, nothing is asked.
func (Adapter) Unload(ctx context.Context, s discover.Session, _ launch.Environment) (unloads bool, err error) {
	server := serverOf(s)
	if server.socket == "" || s.Path == "" {
		return false, nil
	}
	if !readArgs(server.Process).isDaemon || s.Source != "tui" && s.Source != "exec" {
		return false, nil
	}
	if info, err := os.Stat(s.Path); err != nil || info.Size() == 0 {
		return false, nil
	}
	c, err := server.ask(ctx)
	if err != nil {
		return false, err
	}
	defer c.Hangup()
	tree, err := c.threadTree(s.ID)
	if err != nil {
		return false, err
	}
	if slices.ContainsFunc(tree, func(t loadedThread) bool { return t.active }) {
		return false, errors.New("a turn has begun meanwhile")
	}
	if len(tree) == 0 {
		return true, nil
	}
	return true, c.unload(s.ID)
}

// unload archives a thread and unarchives it. Both requests are sent at once, so that the server has both even if this process ends. The
// server archives the thread's sub-agents with it; each is unarchived.
func (r *rpcClient) unload(id string) error {
	params := map[string]string{"threadId": id}
	archive, unarchive := r.NextID(), r.NextID()
	for _, request := range []launch.RPCRequest{{ID: archive, Method: "thread/archive", Params: params}, {ID: unarchive, Method: "thread/unarchive", Params: params}} {
		if err := r.Write(request); err != nil {
			return err
		}
	}
	var archived []string
	failed, answers := map[int64]error{}, 0
	for answers < 2 {
		answer, err := r.ReceiveObject()
		if err != nil {
			return err
		}
		switch id := answer.Get("id").Int(); {
		case answer.Get("method").Text(0) == "thread/archived":
			archived = append(archived, answer.Get("params").Object().Get("threadId").Text(0))
		case answer.Get("method") == nil && (id == int64(archive) || id == int64(unarchive)):
			answers++
			if problem := answer.Get("error"); problem != nil {
				failed[id] = launch.NewRPCError("archiving it", problem)
			}
		}
	}
	if err := failed[int64(archive)]; err != nil {
		return err
	}
	for _, t := range archived {
		if t == id && failed[int64(unarchive)] == nil {
			continue
		}
		_, err := r.Call("thread/unarchive", map[string]string{"threadId": t})
		if t != id { // refused if it has been unarchived with its parent
			err = ignoreRefusal(err)
		}
		if err != nil {
			return fmt.Errorf("%s is archived now, and could not be unarchived: %w", t, err)
		}
	}
	return nil
}
