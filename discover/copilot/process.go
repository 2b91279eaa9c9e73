package copilot

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// candidates yields the processes that may be the agent's: by their names and, in a thorough table, by the locks on sessions. npm's launcher,
// which is node, is none: it passes no signal on, and its death means nothing.
func candidates(table *proc.Table) iter.Seq[proc.Process] {
	return table.Candidates(proc.Signs{Name: Adapter{}.MatchesBinary, File: func(path string) bool { _, ok := parseHold(path); return ok }})
}

// MatchesBinary implements [discover.Adapter]. It takes the short name of a process, and its first argument, as well.
func (Adapter) MatchesBinary(name string) bool {
	base := strings.ToLower(path.Base(name))
	return strings.HasPrefix(strings.TrimPrefix(base, "."), "copilot")
}

// IsAgentProcess implements [discover.Adapter], by the name of the program. AWS has a tool of the same name.
func (Adapter) IsAgentProcess(p proc.Process) bool { return proc.ProgramName(p.Exe) == "copilot" }

// hold is a lock that a process takes when it loads a session: session-state/<id>/inuse.<pid>.hold. The program locks a file of that name
// in its cache, too, in a folder that is named by the version.
type hold struct {
	root, session string // root is the real path of the folder of all sessions
	pid           int
	file          proc.OpenFile
}

// parseHold parses the path of such a file of a session.
func parseHold(file string) (h hold, ok bool) {
	dir, name := path.Split(file)
	dir = path.Clean(dir)
	h.root, h.session = path.Dir(dir), path.Base(dir)
	h.pid, ok = parsePID(name, "inuse.", ".hold")
	return h, ok && isUUID(h.session)
}

// parsePID returns the number between two parts of a name.
func parsePID(name, prefix, suffix string) (pid int, ok bool) {
	rest, begins := strings.CutPrefix(name, prefix)
	digits, ends := strings.CutSuffix(rest, suffix)
	pid, err := strconv.Atoi(digits)
	return pid, begins && ends && err == nil && pid > 0
}

// openFiles is what a process has open.
type openFiles struct {
	holds []hold
	// home is the home that its log or database is in; log is the name of the log there.
	home, log string
	// version is the program's own, by the lock that it holds in the cache since 1.0.89: a program may load a newer version of itself.
	version string
	// terminal: it reads from a terminal. known: it has a file open, or a lock, that only the agent has.
	terminal, known bool
}

// readOpenFiles reads what a process has open. A lock that it has inherited from another process has that one's pid in its name.
func readOpenFiles(p proc.Process) (o openFiles, err error) {
	files, err := p.OpenFiles(func(file string) bool {
		return strings.HasPrefix(file, "/dev/") || strings.HasSuffix(file, ".hold") || strings.HasSuffix(file, ".log") || path.Base(file) == databaseName
	})
	if err != nil {
		return o, err
	}
	pid := p.NamespacePID()
	for _, f := range files {
		name := path.Base(f.Path)
		h, isHold := parseHold(f.Path)
		switch {
		case f.FD == 0:
			o.terminal = strings.HasPrefix(f.Path, "/dev/pts/") || strings.HasPrefix(f.Path, "/dev/tty")
		case isHold:
			if h.file = f; f.IsLocked() && h.pid == pid {
				o.holds = append(o.holds, h)
			}
		case strings.HasSuffix(name, ".hold"):
			if number, ok := parsePID(name, "inuse.", ".hold"); ok && number == pid && f.IsLocked() {
				o.version, o.known = path.Base(path.Dir(f.Path)), true
			}
		case name == databaseName && !f.PathDiffers:
			o.home = cmp.Or(o.home, path.Dir(f.Path))
		case strings.HasPrefix(name, "process-") && strings.HasSuffix(name, "-"+strconv.Itoa(pid)+".log") && !f.PathDiffers:
			if dir := path.Dir(f.Path); path.Base(dir) == logsName {
				o.home, o.log = path.Dir(dir), name
			}
		}
	}
	o.known = o.known || len(o.holds) > 0 || o.home != ""
	return o, nil
}

// Names in a home of what a process keeps open: the folder of logs, and a database.
const (
	logsName     = "logs"
	databaseName = "session-store.db"
)

// cmdline is what a command line says of a process of the agent.
type cmdline struct {
	// helper: it runs no session. server: its clients decide what it runs. print: one turn without a terminal.
	helper, server, print bool
	// session is the ID that it begins or resumes; "" if the command line names none.
	session string
	// uiServer: a terminal that takes requests on a port.
	uiServer bool
}

// subcommands run no session, as in `copilot --help` of 1.0.82 and 1.0.102; npm's launcher has none of its own.
const subcommands = "app login help config update version sessions memories plugin mcp skill instruction lsp sandbox completion"

// syntax is that of the command line. Options without a value here may be switches of a version that was not tried.
func syntax() discover.Syntax {
	return discover.Syntax{
		NoDashValues: true,
		Values: "-i --interactive -p --prompt --model --reasoning-effort --context --auto-tier --agent -n --name --session-id -C --log-dir " +
			"--log-level --stream --output-format --add-dir --attachment --disable-mcp-server --plugin-dir --additional-mcp-config --mode " +
			"--max-ai-credits --max-autopilot-continues --usage-output-file --extension-sdk-path --port -r --resume",
		Lists: "--allow-tool --deny-tool --available-tools --excluded-tools --secret-env-vars --allow-url --deny-url",
		Final: "-v --version -h --help",
	}
}

func parseCmdline(args []string) cmdline {
	a := syntax().Parse(args)
	c := cmdline{
		helper:   len(a.Words) > 0 && slices.Contains(strings.Fields(subcommands), a.Words[0]) || a.Has("-v", "--version", "-h", "--help"),
		server:   a.Has("--acp", "--server", "--headless", "--managed-server", "--environment-host"),
		print:    a.Has("-p", "--prompt"),
		uiServer: a.Has("--ui-server"),
	}
	if id := a.Value("--session-id", "--resume", "-r"); isUUID(id) {
		c.session = id
	}
	return c
}

// process is a live process of the agent.
type process struct {
	proc.Process
	cmdline
	openFiles
	home       string // its home by the name that Homes gave it, or as the process sees it
	listed     bool   // the home is one of those that were given
	unreadable string
}

// inspect returns what a process shows; nil if it is not the agent's, runs no session, or has ended.
func inspect(p proc.Process, homes []discover.Home) *process {
	agent := &process{Process: p}
	args, argsErr := p.Args()
	files, err := readOpenFiles(p)
	if errors.Is(err, proc.ErrGone) || errors.Is(argsErr, proc.ErrGone) || !p.Alive() {
		return nil
	}
	agent.openFiles = files
	if argsErr == nil && len(args) > 0 {
		agent.cmdline = parseCmdline(args[1:])
	}
	// What a process holds says that it is the agent. Its name alone does not, but for the thread name that the agent's runtime gives it.
	named := (Adapter{}).IsAgentProcess(p) && (err != nil || p.Name == "MainThread")
	ofHome := files.home != "" && slices.ContainsFunc([]string{p.Exe, p.Name}, Adapter{}.MatchesBinary)
	if len(files.holds) == 0 && (agent.helper || !named && !ofHome) {
		return nil
	}
	if err != nil {
		agent.unreadable = "its open files: " + storage.Cause(err).Error()
	}
	agent.print = !agent.server && (agent.print || err == nil && !agent.terminal)
	agent.findHome(homes)
	agent.checkVersion()
	return agent
}

// findHome sets the home: that of the sessions that the process has locked, or else the one that its environment or what it has open
// names. A home, and its folder of sessions, may be a link.
func (p *process) findHome(homes []discover.Home) {
	dir, err := homeVariables().OfProcess(p.Process)
	if err != nil {
		dir = p.openFiles.home
	}
	is := func(h discover.Home) bool { return discover.RealPath(h.Dir) == discover.RealPath(dir) }
	for _, held := range p.holds {
		if !held.file.PathDiffers {
			dir = path.Dir(held.root)
			is = func(h discover.Home) bool { return discover.RealPath(filepath.Join(h.Dir, stateName)) == held.root }
		}
	}
	i := slices.IndexFunc(homes, is)
	if p.home = dir; i >= 0 && dir != "" {
		p.home, p.listed = homes[i].Dir, true
	}
}

// checkVersion sets the version where the process does not show it, and marks one that is not supported.
func (p *process) checkVersion() {
	p.version = cmp.Or(p.version, installedVersion(p.Exe).String())
	p.unreadable = cmp.Or(storage.ParseVersion(p.version).BelowFloor(oldestSupported), p.unreadable)
}

// source is how the process was started; "" if its clients decide.
func (p *process) source() string {
	switch {
	case p.server:
		return ""
	case p.print:
		return "print"
	}
	return "tui"
}

// logPart is how many bytes of a file name a session: the beginning of a log the first one, its end the one that a terminal shows.
const logPart = 64 << 10

// readPart reads the beginning of a file, or its end, at most limit bytes.
func readPart(ctx context.Context, file string, limit int64, end bool) (string, error) {
	f, err := storage.Open(ctx, file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	buf, at := make([]byte, min(f.Size(), limit)), int64(0)
	if end {
		at = f.Size() - int64(len(buf))
	}
	n, err := f.ReadAt(buf, at)
	return string(buf[:n]), err
}

// shownSession returns the session that a terminal shows now, by its log; "" if that does not say (SEEN 1.0.102).
func (p *process) shownSession(ctx context.Context) (id string) {
	log, _ := readPart(ctx, filepath.Join(p.home, logsName, p.log), logPart, true)
	for line := range strings.Lines(log) {
		_, entry, _ := strings.Cut(line, " ") // behind the time
		if begun, ok := strings.CutPrefix(entry, "[INFO] Registering foreground session: "); ok {
			id = strings.TrimSpace(begun)
		} else if strings.HasPrefix(entry, "[INFO] Unregistering foreground session: "+id) {
			id = ""
		}
	}
	if !isUUID(id) {
		return ""
	}
	return id
}

// formerSessions returns the sessions that a process up to 1.0.88, which holds no lock, may have loaded: those that its command line and
// the beginning of its log name, and those that the home's list of open terminals has.
func (p *process) formerSessions(ctx context.Context) (ids []string) {
	texts := []string{p.session}
	for _, file := range []string{filepath.Join(p.home, logsName, p.log), filepath.Join(p.home, "open-sessions-state.json")} {
		text, _ := readPart(ctx, file, logPart, false)
		texts = append(texts, text)
	}
	for _, text := range texts {
		for _, word := range strings.FieldsFunc(text, func(c rune) bool { return !strings.ContainsRune("0123456789abcdefABCDEF-", c) }) {
			if isUUID(word) && !slices.Contains(ids, word) {
				ids = append(ids, word)
			}
		}
	}
	return ids
}
