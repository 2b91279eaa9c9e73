package codex

import (
	"cmp"
	"context"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// candidates yields the live processes that may be Codex's: those whose names mention it, those that hold a lock of a home, and in a
// thorough table those that have a rollout or a lock open. [inspect] tells whether one is.
func candidates(table *proc.Table, homes []discover.Home) iter.Seq[proc.Process] {
	signs := proc.Signs{Name: mentionsCodex, Locked: func() []string { return lockFiles(homes) }, File: isThreadFile}
	return func(yield func(proc.Process) bool) {
		for p := range table.Candidates(signs) {
			if p.Alive() && !table.IsForkOfParent(p) && !yield(p) {
				return
			}
		}
	}
}

// lockFiles are the lock files of the homes.
func lockFiles(homes []discover.Home) (files []string) {
	for _, h := range homes {
		dir := filepath.Join(h.Dir, locksDir)
		names, _ := storage.ReadDir(context.Background(), dir) // it may well not exist
		for _, n := range names {
			if _, ok := parseLockName(n.Name()); ok {
				files = append(files, filepath.Join(dir, n.Name()))
			}
		}
	}
	return files
}

// inspect reads what a candidate has open, and reports whether it is Codex's. A process is, whatever its program is called, if it holds a
// thread's lock or writes a rollout; if its name mentions Codex and it has another file of a home open; or if it runs the agent's own
// binary by its name. Those who only read rollouts are not.
func inspect(p proc.Process) (files openFiles, own bool, err error) {
	files, err = readOpenFiles(p)
	return files, isCodex(p) || len(files.threads) > 0 || files.ofHome && (mentionsCodex(p.Exe) || mentionsCodex(p.Name)), err
}

// mentionsCodex reports whether the name of a program, or its path, says Codex in any way: codex-raw, .codex-unwrapped, codex-acp.
func mentionsCodex(name string) bool {
	return strings.Contains(strings.ToLower(filepath.Base(name)), "codex")
}

// isCodex reports whether a process runs Codex's binary by its name. It goes by the executable, never by a word of the command line. npm and
// the daemon's copy name it "codex" (SEEN 0.42–0.171), the release archives by platform. npm's wrapper is node, and no Codex process.
// Where the executable cannot be seen (another user's process), the kernel's short name decides.
func isCodex(p proc.Process) bool {
	base := proc.ProgramName(cmp.Or(p.Exe, p.Name))
	return base == "codex" || strings.HasPrefix(base, "codex-x86_64-") || strings.HasPrefix(base, "codex-aarch64-")
}

// IsAgentProcess implements [discover.Adapter]. Under the name of one of its tools, the binary is a tool.
func (Adapter) IsAgentProcess(p proc.Process) bool { return isCodex(p) && !isToolName(startName(p)) }

// startName is the name that a process was started under, "" if that cannot be read.
func startName(p proc.Process) string {
	args, err := p.Args()
	if err != nil || len(args) == 0 {
		return ""
	}
	return args[0]
}

// IsSandbox implements [discover.Adapter]. The sandbox around one command of a thread's tools is Codex's binary under another name,
// with the thread's marker. It has its own pid namespace: the sandbox is the first process that a command can see (SEEN 0.169; in
// 0.104 the sandbox hides only what the agent has open).
func (Adapter) IsSandbox(p proc.Process) bool {
	return isCodex(p) && filepath.Base(startName(p)) == sandboxName
}

const sandboxName = "codex-linux-sandbox"

// isThreadFile reports whether an open file of this name can link its process to a thread.
func isThreadFile(path string) bool {
	base := filepath.Base(path)
	if _, ok := parseRolloutName(base); ok {
		return true
	}
	_, ok := parseLockName(base)
	return ok && filepath.Base(filepath.Dir(path)) == locksDir
}

// openFiles is what a process's descriptors show.
type openFiles struct {
	threads []threadFiles // by ID
	// watchesFiles: the process has an inotify descriptor. A process that runs threads watches their configuration, from before its
	// first thread on. A TUI that shows the daemon's threads does not (SEEN 0.104, 0.169; Linux).
	watchesFiles bool
	// descriptorsNamed: the kernel names descriptors that are not files, so that a missing inotify descriptor means something.
	descriptorsNamed bool
	// ofHome: it has a file of a home open that only Codex keeps open. A client of the daemon has its own lock among them.
	ofHome bool
}

// isHomeFile reports whether a path is that of a file that every Codex process has open while it runs: its databases, or the lock of its
// directory of links (SEEN 0.130–0.171).
func isHomeFile(path string) bool {
	base := filepath.Base(path)
	return strings.HasSuffix(base, ".sqlite") && (strings.HasPrefix(base, "state_") || strings.HasPrefix(base, "logs_")) ||
		base == ".lock" && strings.HasPrefix(filepath.Base(filepath.Dir(path)), "codex-arg0")
}

// threadFiles is the evidence for one thread: the lock that the process holds, the rollout that it writes, or both.
type threadFiles struct {
	id            string
	lock, rollout *proc.OpenFile
}

func readOpenFiles(p proc.Process) (openFiles, error) {
	var e openFiles
	files, err := p.OpenFiles(func(path string) bool {
		if name, ok := strings.CutPrefix(path, "anon_inode:"); ok {
			e.descriptorsNamed = true
			e.watchesFiles = e.watchesFiles || name == "inotify"
		}
		e.ofHome = e.ofHome || isHomeFile(path)
		return isThreadFile(path)
	})
	for _, f := range files {
		e.add(f)
	}
	e.ofHome = e.ofHome || len(e.threads) > 0
	slices.SortFunc(e.threads, func(a, b threadFiles) int { return strings.Compare(a.id, b.id) })
	return e, err
}

// add records an open file if it is evidence. A Codex process also opens rollouts of other threads for reading when it starts, and
// lock files of others to see whether they are locked.
func (o *openFiles) add(f proc.OpenFile) {
	base := filepath.Base(f.Path)
	if name, ok := parseRolloutName(base); ok && f.Writable {
		o.thread(name.id).rollout = &f
	}
	if id, ok := parseLockName(base); ok && f.IsLocked() {
		o.thread(id).lock = &f
	}
}

func (o *openFiles) thread(id string) *threadFiles {
	i := slices.IndexFunc(o.threads, func(t threadFiles) bool { return t.id == id })
	if i < 0 {
		i = len(o.threads)
		o.threads = append(o.threads, threadFiles{id: id})
	}
	return &o.threads[i]
}

// threadKey is set in the environment of every command that a thread's tools run (SEEN 0.104–0.169). A Codex process that has it was
// started from inside that thread; it does not run it.
const threadKey = "CODEX_THREAD_ID"

// rootKey is set with [threadKey], to the thread at the root of the tree of sub-agents (SEEN 0.169).
const rootKey = "CODEX_SESSION_ID"

// ReadMarker implements [discover.Adapter]. The variables name the thread whose tool started the process.
func (Adapter) ReadMarker(getenv func(string) string) (marker discover.EnvMarker, ok bool) {
	thread := getenv(threadKey)
	if !isThreadID(thread) {
		return discover.EnvMarker{}, false
	}
	return discover.EnvMarker{Session: thread, Root: getenv(rootKey)}, true
}

// MarkerKeys are the variables that [Adapter.ReadMarker] reads.
func (Adapter) MarkerKeys() []string { return []string{threadKey, rootKey} }

// HasMarker reports whether a tool of the session, or of one of its sub-agents, started p.
func (Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(threadKey, rootKey)
	return err == nil && s.ID != "" && (env[threadKey] == s.ID || env[rootKey] == s.ID)
}

// ScrubbedEnv are the variables that Codex sets for the commands of a thread (SEEN 0.104, 0.169), and that npm's launcher sets for the
// thread's own process. CODEX_HOME and CODEX_SQLITE_HOME are not among them: they are the user's settings.
func (Adapter) ScrubbedEnv() []string {
	return []string{
		threadKey, rootKey, "CODEX_TOOL_CALL_ID", "CODEX_VERSION", "CODEX_CI", "CODEX_PERMISSION_PROFILE", "CODEX_SANDBOX*",
		"CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS", "CODEX_MANAGED_*",
	}
}

// role is what a Codex process does.
type role uint8

const (
	helper role = iota // runs no thread: sandbox, updater, short command, client of a server that its arguments name
	exec               // runs one turn without asking the user: exec, review
	tui                // is the terminal interface; the daemon may run its threads instead
	server             // serves threads to clients: app-server, mcp-server
)

// invocation is a parsed command line.
type invocation struct {
	role
	// noDaemon: the TUI runs its threads itself (--no-daemon, 0.160 and later).
	noDaemon bool
	// remoteTUI: the process is a TUI that shows the threads of a server that its arguments name.
	remoteTUI bool
	// overview: the TUI begins with the list of all sessions.
	overview bool
	// isDaemon: the server is the daemon that runs the threads of the TUIs of its home.
	isDaemon bool
	// isMCP: the server is one of the Model Context Protocol.
	isMCP bool
	// dir is the value of -C, session the full ID given to resume, listen the value of --listen, remote that of --remote.
	dir, session, listen, remote string
}

// parseArgs parses a command line as Codex does. The first word that is neither an option nor the value of one is the command. If
// no command has that name, the word is a prompt and the process a TUI (SEEN 0.104, 0.169).
func parseArgs(args []string) invocation {
	if len(args) == 0 || isToolName(args[0]) {
		return invocation{}
	}
	a := syntax().Parse(args[1:])
	in := invocation{
		noDaemon: a.Has("--no-daemon"), isDaemon: a.Has("--managed-daemon"),
		dir: a.Value("-C", "--cd"), listen: a.Value("--listen"), remote: a.Value("--remote"),
	}
	runsNone := a.Has("--remote", "-h", "--help", "-V", "--version") // a client of a remote server, or it prints help
	for option := range a.Options {
		runsNone = runsNone || strings.HasPrefix(option, "--codex-run-as-")
	}
	words := a.Words
	command := ""
	if len(words) > 0 {
		command = words[0]
	}
	switch command {
	case "exec", "e", "review":
		in.role = exec
	case "app-server":
		in.role = serverRole(words[1:])
	case "mcp-server":
		in.role, in.isMCP = server, true
	case "remote-control":
		if in.noDaemon && len(words) == 1 { // its own server, in the foreground (READ 0.169)
			in.role = server
		}
	case "login", "logout", "mcp", "plugin", "completion", "update", "doctor", "sandbox",
		"debug", "apply", "a", "queue", "archive", "delete", "migrate-rollouts", "migrate-nfs-db", "unarchive", "cloud",
		"cloud-tasks", "exec-server", "execpolicy", "features", "help", "responses-api-proxy", "stdio-to-uds":
		in.role = helper
	default:
		in.role, in.overview = tui, command == "agents"
	}
	if runsNone {
		in.remoteTUI = in.role == tui && in.remote != ""
		in.role = helper
	}
	if i := slices.Index(words, "resume"); i >= 0 && i < 2 && i+1 < len(words) && isThreadID(words[i+1]) {
		in.session = words[i+1]
	}
	return in
}

// isToolName reports whether the binary was started under the name of a tool. It then acts as that tool: it runs a command in the
// sandbox, or applies a patch.
func isToolName(arg0 string) bool {
	switch filepath.Base(arg0) {
	case sandboxName, "codex-execve-wrapper", "codex-code-mode-host", "apply_patch", "applypatch":
		return true
	}
	return false
}

// roleOfProgram is the role of a program that is not Codex's command line and runs its threads: codex-acp serves an editor. It is helper
// for all others, whose arguments tell.
func roleOfProgram(name string) role {
	switch base := filepath.Base(name); {
	case strings.HasPrefix(base, "codex-acp"), strings.HasPrefix(base, "codex-app-server"), strings.HasPrefix(base, "codex-mcp-server"):
		return server
	case strings.HasPrefix(base, "codex-exec"):
		return exec
	}
	return helper
}

// serverRole is the role of `codex app-server` with these words: a server, or a helper for one.
func serverRole(words []string) role {
	for _, tool := range []string{"daemon", "proxy", "generate-ts", "generate-json-schema", "help"} {
		if slices.Contains(words, tool) {
			return helper
		}
	}
	return server
}

// syntax is that of the command line.
func syntax() discover.Syntax {
	return discover.Syntax{
		Values: "-c --config --enable --disable --remote --remote-auth-token-env -i --image -m --model --local-provider -p --profile " +
			"-s --sandbox -C --cd --add-dir -a --ask-for-approval --thread-source --cyber-access-program --output-schema --color " +
			"-o --output-last-message --listen --startup-client-info --cloud-skills-snapshot --code-mode-host --session-source " +
			"--base --commit --title",
	}
}

// readArgs parses the arguments of a process. It is a helper if they cannot be read.
func readArgs(p proc.Process) invocation {
	args, _ := p.Args()
	return parseArgs(args)
}
