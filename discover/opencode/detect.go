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
	dir     string // its working directory; "" if it cannot be read
	dataDir string // its data folder; "" if it is not known
	// files are its open databases, logs and anonymous files.
	files []proc.OpenFile
	// foreign: the path of its data folder leads to another folder for us, because it has its own mount namespace or root directory.
	foreign bool
	// unreadable is the reason why evidence is missing, such as another user's process.
	unreadable string
}

// isProgram reports whether a process runs the agent's binary. npm's launcher before 1.15 does not count: it is a node process that can die
// alone (SEEN 1.1.65).
func isProgram(p proc.Process) bool {
	if p.Exe == "" {
		return isProgramName(p.Name) // another user's process
	}
	return isProgramName(p.Exe)
}

// isProgramName reports whether an executable may be the agent's. opencode-cli is the server of the desktop application, in versions that
// did not run it in their own process.
func isProgramName(exe string) bool {
	switch proc.ProgramName(exe) {
	case "opencode", "opencode.exe", "opencode-cli", "opencode2":
		return true
	}
	return false
}

// IsAgentProcess implements [discover.MarkerReader].
func (Adapter) IsAgentProcess(p proc.Process) bool { return isProgram(p) }

// processes returns the live processes that may run sessions.
func processes(table *proc.Table) []process {
	var out []process
	for p := range table.Candidates(proc.Signs{Name: isProgramName}) {
		if p.Alive() && isProgram(p) {
			if q, ok := inspect(p); ok && !q.isHelper(table) {
				out = append(out, q)
			}
		}
	}
	return out
}

// inspect reads what a process shows. ok is false if the process runs no sessions or has ended.
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
	q.dir, _ = p.Cwd() // "" if it cannot be read
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

// isHelper reports whether the process is a helper that the agent has started itself, without a shell between. The agent starts no
// terminal interface. But it runs `opencode pm ls -g` for two seconds (SEEN 1.1.65), because its own binary is also the package manager
// bun. A child that was forked and has not called exec yet has its parent's arguments and open files.
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

// reason returns the error without its path.
func reason(err error) string {
	if about := (*fs.PathError)(nil); errors.As(err, &about) {
		err = about.Err
	}
	return err.Error()
}

// isEvidenceFile reports whether an open file may be evidence: a database, a log, or the output for a launcher.
func isEvidenceFile(path string) bool {
	return strings.HasSuffix(path, ".db") || isLog(path) || isAnonymousFile(path)
}

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
		if strings.HasSuffix(f.Path, ".db") && !f.Deleted && !f.PathDiffers {
			out = append(out, f.Path)
		}
	}
	return out
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
