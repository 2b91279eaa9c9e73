package opencode

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// process is a live process of the agent.
type process struct {
	proc.Process
	commandLine
	args    []string
	dir     string // its working directory; "" if it cannot be read
	dataDir string // its data folder; "" if it is not known
	// files are its open databases, logs and anonymous files.
	files []proc.OpenFile
	// foreign: the path of its data folder leads to another folder for us, because it has its own mount namespace or root directory.
	foreign bool
	// unreadable is the reason why evidence is missing, such as another user's process.
	unreadable string
	// unsupported is the reason why agentctl does not know what the process does.
	unsupported string
	// stateDir is the folder in which the service of OpenCode 2 registers; "" if it is not known.
	stateDir string
}

// isProgram reports whether the name of a process's binary is the agent's own: behind npm's launcher it is .opencode. A name proves nothing;
// see [holdsStore]. OpenCode 2 has two names more: npm's opencode2, and opencode-cli of the desktop (READ 2.0.26). npm's launcher up to 1.15.0 does not count: it is a node process that can die alone (SEEN 1.14.41).
func isProgram(p proc.Process) bool {
	name := proc.ProgramName(cmp.Or(p.Exe, p.Name)) // without Exe, it is another user's process
	return slices.Contains([]string{"opencode", ".opencode", "opencode.exe", "opencode2", "opencode-cli"}, name)
}

// argsOf returns the arguments of a process after the program's name; ok is false if they cannot be read.
func argsOf(p proc.Process) (args []string, ok bool) {
	if args, err := p.Args(); err == nil && len(args) > 0 {
		return args[1:], true
	}
	return nil, false
}

// modeOf returns the mode of a process; [modeNone] if its arguments cannot be read.
func modeOf(p proc.Process) string {
	if args, ok := argsOf(p); ok {
		return parseArgs(args).mode
	}
	return modeNone
}

// printLogs is the option with which a headless run or a server of 1.14.41 opens no log (SEEN).
const printLogs = "--print-logs"

// holdsStore reports whether a process holds what only the agent holds, whatever its program is called: a database and a log, both open for
// writing (SEEN 1.14.41, 1.15.0, 1.18.33). The database alone is no evidence: sqlite3 opens it so even to read. A client of a server has no
// database (SEEN 1.14.41, 1.18.33).
func holdsStore(files []proc.OpenFile, args []string) bool {
	database, log := false, slices.Contains(args, printLogs)
	for _, f := range files {
		database = database || f.Writable && isDatabase(f.Path)
		log = log || f.Writable && isLog(f.Path)
	}
	return log && (database || parseArgs(args).name == attachCommand)
}

// IsAgentProcess implements [discover.Adapter].
func (Adapter) IsAgentProcess(p proc.Process) bool {
	if isProgram(p) {
		return true
	}
	files, err := p.OpenFiles(isEvidenceFile)
	if err != nil || len(files) == 0 {
		return false
	}
	args, ok := argsOf(p)
	return ok && holdsStore(files, args)
}

// processes returns the live processes that may run sessions, and the clients that show those of a server. It examines those that may be the
// agent's by a name, by an open file, or by a lock on a database of the homes: SQLite holds one as long as it has the database open (SEEN
// 1.14.41, 1.15.0, 1.18.33).
func processes(ctx context.Context, table *proc.Table, homes []discover.Home) (run, clients []process) {
	locked := func() (files []string) {
		for _, h := range homes {
			databases, _ := listDatabases(ctx, h) // Entries reports what cannot be read
			for _, path := range databases {
				files = append(files, path, path+"-shm")
			}
		}
		return files
	}
	signs := proc.Signs{Name: Adapter{}.MatchesBinary, Locked: locked, File: func(path string) bool { return isDatabase(path) || isLog(path) }}
	for p := range table.Candidates(signs) {
		if !p.Alive() {
			continue
		}
		switch q, ok := inspect(p); {
		case !ok || table.IsForkOfParent(p):
		case q.mode != modeNone:
			run = append(run, q)
		case q.name == attachCommand && holdsStore(q.files, q.args): // else it may be another program of that name
			clients = append(clients, q)
		}
	}
	return run, clients
}

// inspect reads what a process shows. ok is false if the process is not the agent's or has ended.
func inspect(p proc.Process) (q process, ok bool) {
	q.Process = p
	files, filesErr := p.OpenFiles(isEvidenceFile)
	named := isProgram(p)
	if errors.Is(filesErr, proc.ErrGone) || !named && len(files) == 0 {
		return q, false
	}
	q.files = files
	if q.args, _ = argsOf(p); !named && !holdsStore(files, q.args) {
		return q, false
	}
	env, envErr := p.Env(dataKey, "HOME", dbKey, bunKey, stateKey)
	if errors.Is(envErr, proc.ErrGone) || env[bunKey] == "1" {
		return q, false
	}
	q.commandLine = parseArgs(q.args)
	version, packaged := versionOf(p.Exe)
	if q.generation = cmp.Or(q.generation, packaged); q.generation == generation2 {
		q.commandLine = q.asV2()
	}
	q.dir, _ = p.Cwd() // "" if it cannot be read
	getenv := func(key string) string { return env[key] }
	q.dataDir, q.stateDir = cmp.Or(homeVariables().Dir(getenv), dataDirOfLog(files)), stateVariables().Dir(getenv)
	if same, err := p.SamePath(q.dataDir); err == nil && !same && q.dataDir != "" {
		q.foreign = true
		q.dataDir = cmp.Or(dataDirOfLog(files), p.PathInRoot(q.dataDir))
	}
	if db := databasePath(q.dataDir, env[dbKey]); db != "" && !q.foreign {
		q.files = append(q.files, proc.OpenFile{Path: db})
	}
	if q.generation != generation2 {
		q.unsupported = version.BelowFloor(oldestSupported)
	}
	if err := cmp.Or(envErr, filesErr); err != nil && !errors.Is(err, proc.ErrUnsupported) {
		q.unreadable = "its environment and open files: " + storage.Cause(err).Error()
	}
	return q, true
}

// nameOnly reports whether nothing but the program's name says that the process is the agent's. It has opened neither a database nor a log:
// it has just started, or is another program of that name.
func (p process) nameOnly() bool {
	return !slices.ContainsFunc(p.files, func(f proc.OpenFile) bool { return f.Writable && (isDatabase(f.Path) || isLog(f.Path)) })
}

// isEvidenceFile reports whether an open file may be evidence: a database, a log, the output for a launcher, or that of a shell command.
func isEvidenceFile(path string) bool {
	return isDatabase(path) || isLog(path) || isAnonymousFile(path) || isShellOutput(path)
}

func isDatabase(path string) bool { return strings.HasSuffix(path, ".db") }

// isLog reports whether a file is a log of the agent: since 1.17 log/opencode.log of all processes, before that a file of one process, such
// as log/2026-11-20T192147.log.
func isLog(path string) bool {
	dir, name := filepath.Split(path)
	return strings.HasSuffix(name, ".log") && strings.HasSuffix(dir, "/opencode/log/")
}

func isSharedLog(path string) bool { return filepath.Base(path) == "opencode.log" }

// databases returns the databases that the process has open, or that its environment names.
func (p process) databases() []string {
	var out []string
	for _, f := range p.files {
		if isDatabase(f.Path) && !f.Deleted && !f.PathDiffers {
			out = append(out, f.Path)
		}
	}
	return out
}

// opens reports whether the process has a database open, or its environment names it.
func (p process) opens(path string) bool {
	return slices.ContainsFunc(p.databases(), func(o string) bool { return o == path || discover.SameFile(o, path) })
}

// dataDirOfLog returns the data folder that contains an open log.
func dataDirOfLog(files []proc.OpenFile) string {
	for _, f := range files {
		if isLog(f.Path) && !f.Deleted && !f.PathDiffers {
			return filepath.Dir(filepath.Dir(f.Path))
		}
	}
	return ""
}

// pidKey is set in the environment of the processes that the agent starts (SEEN 1.2.27 and later; earlier versions set no such variable).
const pidKey = "OPENCODE_PID"

// ReadMarker implements [discover.Adapter]. The variable names the agent's process. It does not say which of its sessions started the
// tool (1.18.33 and before). That of OpenCode 2 names the session.
func (Adapter) ReadMarker(getenv func(string) string) (marker discover.EnvMarker, ok bool) {
	pid, err := strconv.Atoi(getenv(pidKey))
	isPID, id := err == nil && pid > 0, getenv(sessionKey)
	switch {
	case !isSessionID(id):
		return discover.EnvMarker{PID: pid}, isPID
	case isPID: // one generation was started by the other, and which is not known
		return discover.EnvMarker{}, false
	}
	return discover.EnvMarker{Session: id}, true
}

// MarkerKeys returns the variables that [Adapter.ReadMarker] reads.
func (Adapter) MarkerKeys() []string { return []string{pidKey, sessionKey} }

// HasMarker implements [discover.Adapter]. A marker names the session's process, whichever of its sessions started p.
func (a Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, _ := p.Env(a.MarkerKeys()...)
	marker, ok := a.ReadMarker(func(key string) string { return env[key] })
	if marker.Session != "" {
		return ok && marker.Session == s.ID && isV2(s)
	}
	if pids, err := p.NamespacePIDs(); !ok || err != nil || len(pids) > 1 {
		return false // the PIDs of a container are not ours
	}
	return slices.ContainsFunc(s.Processes, func(owner proc.Process) bool {
		return owner.ID.PID == marker.PID && owner.ID != p.ID && owner.Ticks <= p.Ticks && !p.Started.Before(owner.Started)
	})
}

// ScrubbedEnv implements [launch.Adapter]. It returns the variables that the agent sets for the processes it starts (SEEN: AGENT and
// OPENCODE in all versions, OPENCODE_PID since 1.2.27, OPENCODE_RUN_ID in 1.14 and 1.15; READ 2.0.26: the last three).
func (Adapter) ScrubbedEnv() []string {
	return []string{"AGENT", "OPENCODE", pidKey, "OPENCODE_RUN_ID", "OPENCODE_PROCESS_ROLE", sessionKey, "OPENCODE_TERMINAL", "AI_AGENT"}
}

// The mode of a process is the source of the sessions that it runs.
const (
	modeNone   = ""       // runs no session: a client, a helper, a short command
	modeTUI    = "tui"    // the terminal interface; any number of sessions
	modeRun    = "run"    // one headless prompt
	modeServer = "server" // serve, web, acp: the sessions of its clients
)

// commandLine is a parsed command line of the agent.
type commandLine struct {
	mode       string
	word       string // the first argument that is no option
	name       string // the subcommand
	session    string // of -s, unless --fork makes a copy of it
	resumes    bool   // -c or -s without --fork: the session may be older than the process
	generation generation
	// standalone: a server of OpenCode 2 that one client has started for itself, or a client that starts one.
	standalone bool
	serverURL  string // the server that a client is told to use
}

// commandMode returns the mode of a subcommand (SEEN 1.18.33 --help; with the names in older versions).
func commandMode(name string) (mode string, known bool) {
	switch name {
	case "run":
		return modeRun, true
	case "serve", "web", "acp":
		return modeServer, true
	case "attach", "completion", "mcp", "debug", "providers", "auth", "agent", "upgrade", "uninstall", "models",
		"stats", "export", "import", "github", "pr", "session", "plugin", "plug", "db", "generate":
		return modeNone, true
	}
	return modeTUI, false
}

// valueOptions are the options that take a value.
const valueOptions = "-m --model -s --session --prompt --agent --port --hostname --log-level --title --format --variant -f --file --attach --dir " +
	"--command --cors --mdns-domain -p --password -u --username --replay-limit --cwd --server"

// parseArgs parses the arguments after the program's name.
func parseArgs(args []string) commandLine {
	a := discover.Syntax{Values: valueOptions}.Parse(args)
	c := commandLine{mode: modeTUI, session: a.Value("-s", "--session"), standalone: a.Has("--standalone", "--stdio"), serverURL: a.Value("--server")}
	if len(a.Words) > 0 {
		c.word = a.Words[0]
		if m, known := commandMode(c.word); known {
			c.mode, c.name = m, c.word
		}
	}
	if arguments := slices.Concat(a.Words, a.Rest); c.name == attachCommand && len(arguments) > 1 {
		c.serverURL = arguments[1]
	}
	if a.Has("--attach", "-h", "--help", "-v", "--version", "--get-yargs-completions") {
		c.mode = modeNone
	}
	fork := a.Has("--fork")
	switch {
	case c.name == "serve" && a.Has("--service", "--stdio"), a.Has("--standalone", "--server"):
		c.generation = generation2
	case c.name == attachCommand, c.name == "web", c.name == "run" && a.Has("--attach", "--dir", "--variant"),
		c.mode == modeTUI && a.Has("--port", "--hostname"):
		c.generation = generation1
	}
	c.resumes = (c.session != "" || a.Has("-c", "--continue")) && !fork
	if fork || !isSessionID(c.session) {
		c.session = ""
	}
	return c
}

// generation is the major version of OpenCode that a process runs, or an installation has. Both have the same names.
type generation uint8

const (
	generationUnknown generation = iota
	generation1
	generation2
)

// asV2 returns the command line as OpenCode 2 reads it (READ 2.0.26). Only servers run turns: terminals and headless runs are their clients,
// and so is acp.
func (c commandLine) asV2() commandLine {
	c.generation = generation2
	switch c.word {
	case "acp", "api", "auth", "debug", "mcp", "models", "pair", "plugin", "reload", "service", "session", "stats", "uninstall", "update", "upgrade":
		c.mode, c.name = modeNone, c.word
	}
	return c
}
