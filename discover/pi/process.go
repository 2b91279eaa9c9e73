package pi

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// MatchesBinary implements [discover.Adapter]. Pi runs in node, or is a program of its own, made by bun.
func (Adapter) MatchesBinary(exe string) bool {
	switch proc.ProgramName(exe) {
	case programName, "node", "bun":
		return true
	}
	return false
}

// IsAgentProcess implements [discover.Adapter], by the command line. Pi overwrites it with its name as soon as it has loaded, 0.3 to 1 s after
// its start (SEEN 0.84, 1.5). Until then it is that of node, with the path of Pi's script.
func (a Adapter) IsAgentProcess(p proc.Process) bool {
	if !p.Alive() {
		return false
	}
	if p.Exe == "" { // another user's
		return p.Name == programName
	}
	args, err := p.Args()
	if err != nil || len(args) == 0 || !a.MatchesBinary(p.Exe) {
		return false
	}
	if len(args) == 1 {
		return args[0] == programName
	}
	return proc.ProgramName(p.Exe) == programName || filepath.Base(args[1]) == programName || strings.Contains(args[1], "/pi-coding-agent/dist/")
}

// process is a live process of Pi.
type process struct {
	proc.Process
	table *proc.Table
	// home is its home, sessionDir the directory that has its sessions if that is not in the home. Each is "" if it is not known.
	home, sessionDir string
	// store is the home that has its sessions, "" if it is none of the known ones.
	store string
	// user is its user's home directory, dir its working directory.
	user, dir string
	// launched names the session that agentctl has started it for: by its path if it existed, else by its ID.
	launched string
	// inherited is the marker that the process was started with: it runs inside of a session.
	inherited string
	// version is that of the program, as far as a shell has noted which one it has started.
	version    string
	unreadable string
	// output is its standard output if that is a file, hasTerminal: its standard input is a terminal. hasSocket: it has a connection.
	output      *proc.OpenFile
	hasTerminal bool
	hasSocket   bool
}

func presences(table *proc.Table) (list []*process) {
	for p := range table.Candidates(proc.Signs{Name: Adapter{}.MatchesBinary}) {
		if !(Adapter{}).IsAgentProcess(p) {
			continue
		}
		if agent := inspect(table, p); agent != nil {
			list = append(list, agent)
		}
	}
	return list
}

// launchedKey is set in the environment of a headless run that agentctl starts. Such a run never changes its session, and nothing that is
// left of its command line names it.
const launchedKey = "AGENTCTL_PI_SESSION"

// shellKey has the path of the program in the environment of what bash or zsh starts.
const shellKey = "_"

// inspect returns what a process shows; nil if it has ended.
func inspect(table *proc.Table, p proc.Process) *process {
	agent := &process{Process: p, table: table}
	env, err := p.Env(launchedKey, sessionKey, agentKey, shellKey, homeVariables().Key, sessionDirVariables().Key, "HOME")
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	if err != nil {
		agent.unreadable = "its environment: " + storage.Cause(err).Error()
		return agent
	}
	agent.dir, _ = p.Cwd()
	agent.home, _ = homeVariables().OfProcess(p)
	if agent.user = env["HOME"]; env[sessionDirVariables().Key] != "" {
		agent.sessionDir, _ = sessionDirVariables().OfProcess(p)
	}
	if agent.inherited = env[sessionKey]; agent.inherited == "" && env[agentKey] == "" { // else it was started by a Pi that agentctl has started
		agent.launched = env[launchedKey]
	}
	if program := env[shellKey]; filepath.IsAbs(program) && filepath.Base(program) == programName {
		if same, err := p.SamePath(program); err == nil && same {
			agent.version = installedVersion(program).String()
		}
	}
	agent.readFiles()
	return agent
}

func (p *process) readFiles() {
	files, _ := p.OpenFiles(func(path string) bool {
		p.hasSocket = p.hasSocket || strings.HasPrefix(path, "socket:")
		p.hasTerminal = p.hasTerminal || strings.HasPrefix(path, "/dev/pts/") || strings.HasPrefix(path, "/dev/tty")
		return !strings.Contains(path, ":")
	})
	for _, f := range files {
		if f.FD == 1 && f.Writable {
			p.output = &f
		}
	}
}

// findStore finds out where the process stores its sessions, if that is in a known home.
func (p *process) findStore(ctx context.Context, homes []discover.Home) {
	home := discover.ListedHome(p.home, homes)
	if p.sessionDir == "" && home != "" {
		p.sessionDir = storedSessionDir(ctx, home, p.user)
	}
	if p.store = home; p.sessionDir != "" {
		p.store = discover.ListedHome(p.sessionDir, homes)
	}
}

// sessionFolder returns the folder with the sessions that the process makes in a directory; "" if it is not known.
func (p *process) sessionFolder(dir string) string {
	if p.sessionDir != "" || p.store == "" {
		return p.store
	}
	return folderOf(p.store, dir)
}

// toolSession is the session that a tool of a process names.
type toolSession struct {
	id, path string
	pid      int
}

// toolSessions returns the sessions that the live children of the process name, but for what they have inherited from before Pi.
func (p *process) toolSessions() (list []toolSession) {
	for child := range p.table.Children(p.ID.PID) {
		env, err := child.Env(sessionKey, fileKey)
		if id := env[sessionKey]; err == nil && child.Alive() && isSessionID(id) && id != p.inherited {
			list = append(list, toolSession{id, env[fileKey], child.ID.PID})
		}
	}
	return list
}

// outputHeader returns the header of a session with which the standard output of the process begins: that of --mode json, if the session
// began after the process. A file that was written before may have that of another one.
func (p *process) outputHeader(ctx context.Context) (id, dir string) {
	if p.output == nil || p.output.Proc == "" {
		return "", ""
	}
	f, err := storage.OpenLink(ctx, p.output.Proc)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	const headerLimit = 16 << 10
	_, _ = f.Forward(headerLimit, func(l storage.Line) bool {
		e, ok := parseEntry(l.Bytes)
		if made := e.Timestamp.Time(); ok && e.Type == typeSession && isSessionID(e.ID) && p.madeAtStart(made) {
			id, dir = e.ID, e.Get("cwd").Text(discover.PathLimit)
		}
		return false
	})
	return id, dir
}

// sharesOutput reports whether another process writes to the same file, so that the header may be its session's.
func (p *process) sharesOutput(y *process) bool {
	return p != y && y.output != nil && y.output.Path == p.output.Path
}

// startTime is the most that Pi takes from its start to the making of its first session: 0.3 s, on a loaded machine 1.6 s (SEEN 1.5).
const startTime = 5 * time.Second

// madeAtStart reports whether the process may have made a session when it started.
func (p *process) madeAtStart(made time.Time) bool {
	return p.StartedBefore(made) && made.Before(p.PreciseStart().Add(startTime))
}

// The variables that Pi sets for its tools (SEEN 0.84, 1.5). What the user starts by ! and servers of the Model Context Protocol have
// agentKey and aiKey only.
const (
	sessionKey = "PI_SESSION_ID"
	fileKey    = "PI_SESSION_FILE"
	agentKey   = "PI_CODING_AGENT"
	aiKey      = "AI_AGENT"
)

// ReadMarker implements [discover.Adapter].
func (Adapter) ReadMarker(getenv func(string) string) (marker discover.EnvMarker, ok bool) {
	id := getenv(sessionKey)
	return discover.EnvMarker{Session: id}, isSessionID(id)
}

// MarkerKeys implements [discover.Adapter].
func (Adapter) MarkerKeys() []string { return []string{sessionKey} }

// HasMarker implements [discover.Adapter]. Sessions of several directories may have one ID: their files differ.
func (Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(sessionKey, fileKey)
	if err != nil || s.ID == "" || env[sessionKey] != s.ID {
		return false
	}
	file := env[fileKey]
	return file == "" || s.Path == "" || filepath.Base(file) == filepath.Base(s.Path) && discover.RealPath(file) == discover.RealPath(s.Path)
}

// ScrubbedEnv implements [launch.Adapter].
func (Adapter) ScrubbedEnv() []string {
	return []string{sessionKey, fileKey, agentKey, aiKey, launchedKey, "PI_PROVIDER", "PI_MODEL", "PI_REASONING_LEVEL"}
}
