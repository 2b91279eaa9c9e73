package opencode

import (
	"cmp"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/proc"
)

// process is a live process of the agent that may run sessions.
type process struct {
	proc.Process
	commandLine
	args    []string
	dir     string // where it was started; "" where that cannot be read
	dataDir string // its data folder; "" where it cannot be told
	// files are its open databases and logs.
	files []proc.OpenFile
	// foreign: what it calls its data folder is another one here, since it has a mount namespace of its own.
	foreign bool
	// unreadable says why evidence is missing: another user's process.
	unreadable string
}

// isProgram reports whether a process runs the agent's own binary. npm installs before 1.15 put a node process in
// front of it, which is none: it can die alone (SEEN 1.1.65).
func isProgram(p proc.Process) bool {
	if p.Exe == "" {
		return isProgramName(p.Name) // another user's
	}
	return isProgramName(p.Exe)
}

// isProgramName knows opencode-cli, too: so the desktop application called its server until it ran that in its own process.
func isProgramName(exe string) bool {
	switch proc.ProgramName(exe) {
	case "opencode", "opencode.exe", "opencode-cli", "opencode2":
		return true
	}
	return false
}

// processes lists the live processes that may run sessions.
func processes(table *proc.Table) []process {
	var out []process
	for p := range table.WithExe(isProgramName) {
		if p.Alive() && isProgram(p) {
			if q, ok := inspect(p); ok && !q.isHelper(table) {
				out = append(out, q)
			}
		}
	}
	return out
}

// inspect reads what a process shows; not ok if it runs no sessions or is gone.
func inspect(p proc.Process) (process, bool) {
	q := process{Process: p}
	args, err := p.Args()
	if errors.Is(err, proc.ErrGone) {
		return q, false
	}
	if err == nil && len(args) > 0 {
		q.args = args[1:]
	}
	if q.commandLine = parseArgs(q.args); q.mode == modeNone {
		return q, false
	}
	env, envErr := discover.Environ(p, dataKey, homeKey, dbKey, bunKey)
	files, filesErr := p.OpenFiles(isEvidenceFile)
	if errors.Is(envErr, proc.ErrGone) || errors.Is(filesErr, proc.ErrGone) || env[bunKey] == "1" {
		return q, false
	}
	q.files = files
	q.dir, _ = p.Cwd() // only a hint
	q.dataDir = cmp.Or(dataDir(env[dataKey], env[homeKey]), dataDirOfLog(files))
	if same, err := p.SamePath(q.dataDir); err == nil && !same && q.dataDir != "" {
		q.foreign = true
		q.dataDir = cmp.Or(dataDirOfLog(files), p.PathInRoot(q.dataDir))
	}
	if db := databasePath(q.dataDir, env[dbKey]); db != "" && !q.foreign {
		q.files = append(q.files, proc.OpenFile{Path: db})
	}
	if err := cmp.Or(envErr, filesErr); err != nil && !errors.Is(err, proc.ErrUnsupported) {
		q.unreadable = "its environment and open files: " + reason(err)
	}
	return q, true
}

// isHelper reports whether the agent has started the process for a purpose of its own, without a shell between: no terminal
// interface lies below another one, but `opencode pm ls -g` does for two seconds (SEEN 1.1.65: bun is asked what it has
// installed, and bun is the agent's own binary); and a child that was forked and is not its own program yet has its
// parent's command line and open files.
func (p process) isHelper(table *proc.Table) bool {
	parent, ok := table.ByPID(p.Parent)
	if !ok || !parent.Alive() || !isProgram(parent) {
		return false
	}
	if p.mode == modeTUI {
		return true
	}
	args, err := parent.Args()
	return err == nil && len(args) > 0 && slices.Equal(args[1:], p.args)
}

// reason is the error without the path that it is about.
func reason(err error) string {
	if about := (*fs.PathError)(nil); errors.As(err, &about) {
		err = about.Err
	}
	return err.Error()
}

// isEvidenceFile accepts the open files that tell something: databases, logs, and the output that a launcher keeps.
func isEvidenceFile(path string) bool {
	return strings.HasSuffix(path, ".db") || isLog(path) || isAnonymousFile(path)
}

// isLog reports whether a file is a log of the agent: log/opencode.log of all processes since 1.17, before that
// log/2026-11-20T192147.log of one.
func isLog(path string) bool {
	dir, name := filepath.Split(path)
	return strings.HasSuffix(name, ".log") && strings.HasSuffix(dir, "/opencode/log/")
}

func isSharedLog(path string) bool { return filepath.Base(path) == "opencode.log" }

// databases are the ones that the process has open, or was told to use.
func (p process) databases() []string {
	var out []string
	for _, f := range p.files {
		if strings.HasSuffix(f.Path, ".db") && !f.Deleted && !f.PathDiffers {
			out = append(out, f.Path)
		}
	}
	return out
}

// dataDirOfLog tells the data folder from the log in it.
func dataDirOfLog(files []proc.OpenFile) string {
	for _, f := range files {
		if isLog(f.Path) && !f.Deleted && !f.PathDiffers {
			return filepath.Dir(filepath.Dir(f.Path))
		}
	}
	return ""
}
