package codex

import (
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover/native"
	"agentctl/proc"
)

// processes yields the live processes that run Codex's own binary under its own name: sessions, servers, clients and
// short commands. Helpers that share the binary are told from them by their command line only; see parseArgs.
func processes(table *proc.Table) iter.Seq[proc.Process] {
	return func(yield func(proc.Process) bool) {
		for p := range table.Running(isBinary) {
			if p.Alive() && isCodex(p) && !unborn(table, p) && !yield(p) {
				return
			}
		}
	}
}

// isCodex goes by the binary, never by a word in a command line. npm and the daemon's own copy call it "codex"
// (SEEN 0.42–0.169), the release archives by platform. The npm wrapper is node and is not meant. Where the binary may
// not be seen (another user's process), the kernel's short name decides.
func isCodex(p proc.Process) bool {
	if p.Exe == "" {
		return proc.Program(p.Name) == "codex"
	}
	return isBinary(p.Exe)
}

func isBinary(exe string) bool {
	base := proc.Program(exe)
	return base == "codex" || strings.HasPrefix(base, "codex-x86_64-") || strings.HasPrefix(base, "codex-aarch64-")
}

// unborn reports whether p is a child that a codex process has forked and that has not become its own program yet:
// for that moment it has its parent's command line and open files, and is not another agent.
func unborn(table *proc.Table, p proc.Process) bool {
	parent, ok := table.PID(p.Parent)
	if !ok || !parent.Alive() || !isCodex(parent) || parent.Exe != p.Exe {
		return false
	}
	own, err := p.Args()
	theirs, err2 := parent.Args()
	return err == nil && err2 == nil && len(own) > 0 && slices.Equal(own, theirs)
}

// version tells the version of the running binary by where it is installed, "" where that does not tell: the daemon's
// copy lies in releases/<version>-<platform>/bin (SEEN 0.169); npm's in <package>/vendor/<platform>/…, beside the
// package's description (SEEN 0.104, 0.169).
func version(exe string) string {
	for dir := filepath.Dir(exe); len(dir) > 1; dir = filepath.Dir(dir) {
		switch parent := filepath.Dir(dir); filepath.Base(parent) {
		case "releases":
			return number(filepath.Base(dir))
		case "vendor":
			raw, err := native.ReadFile(filepath.Join(filepath.Dir(parent), "package.json"), 64<<10)
			if err != nil {
				return ""
			}
			return number(native.Object(raw).Get("version").Text(0))
		}
	}
	return ""
}

// number is the version without the platform: "0.169.0" of "0.169.0-linux-x64".
func number(s string) string {
	for _, platform := range []string{"-linux", "-darwin", "-win32", "-x86_64", "-aarch64"} {
		s, _, _ = strings.Cut(s, platform)
	}
	return s
}
