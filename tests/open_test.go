package tests_test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// Files are opened, and streams read to their end, by discover/storage alone: it knows a file's type before it opens
// it, and bounds what is read. Tests, and the programs of tests, may do as they like.
func TestFilesAreOpenedInOnePlace(t *testing.T) {
	// Functions that open or read by themselves, with the reason.
	allowed := map[string]string{
		"internal/cli/prompt.go:read":                  "the user's own file, which may be a pipe; its reader is storage.ReadStream",
		"internal/terminal/mode.go:Foreground":         "the terminal, to ask whose it is; nothing is read",
		"launch/execute.go:openOutput":                 "made for writing, where the user says",
		"launch/execute.go:stdinFile":                  "/dev/null",
		"launch/anonymous_linux.go:AnonymousFile":      "made for writing, without a name",
		"launch/worktree/incomplete.go:restoreGitFile": "made for writing, or empty; O_NOFOLLOW",
		"lock/githooks/trailer.go:endLine":             "for writing; git made it, and it was read as a regular file before",
		"lock/flock.go:WriteFile":                      "made for writing, O_EXCL",
		"proc/procfs_linux.go:openDescriptor":          "the kernel's own files, below /proc/PID",
		"proc/procfs_linux.go:identity":                "O_PATH: the file is not opened, only named",
	}
	banned := []string{
		"os.Open", "os.OpenFile", "os.ReadFile", "os.DirFS", "os.OpenInRoot", "os.OpenRoot", "io.ReadAll", "io.Copy",
		"unix.Open", "unix.Openat", "unix.Openat2", "syscall.Open", "syscall.Openat",
	}
	for _, f := range files(t) {
		if f.isTest() || strings.HasPrefix(f.path, "tests/") || strings.HasPrefix(f.path, "discover/storage/") {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				e, ok := n.(ast.Expr)
				if !ok || !slices.Contains(banned, selector(e)) {
					return true
				}
				key := f.path + ":" + fn.Name.Name
				if _, known := allowed[key]; known {
					allowed[key] = ""
				} else {
					t.Errorf("%s: %s: use discover/storage, which bounds what is read and knows the type before it opens", f.at(n), selector(e))
				}
				return true
			})
		}
	}
	for key, reason := range allowed {
		if reason != "" {
			t.Errorf("%s is allowed (%s), but opens nothing", key, reason)
		}
	}
}

// TestTranscriptsOpenNoFiles: what parses an agent's transcripts is given bytes, or an open file.
func TestTranscriptsOpenNoFiles(t *testing.T) {
	opening := []string{
		"storage.Open", "storage.OpenLink", "storage.OpenFile", "storage.CheckDir", "storage.OpenDirFile", "storage.ReadDir", "storage.ReadFile",
		"storage.ReadFileNoFollow", "storage.ReadHead", "storage.ReadComplete", "storage.ReadStream", "storage.EvalSymlinks",
	}
	parsers := []string{"tail.go", "tools.go", "transcript.go", "turn.go"} // in an agent's package
	packages := map[string]bool{}
	for _, f := range files(t) {
		parses := path.Base(path.Dir(f.path)) == "transcript" || path.Dir(path.Dir(f.path)) == "discover" && slices.Contains(parsers, path.Base(f.path))
		if !strings.HasPrefix(f.path, "discover/") || !parses || f.isTest() {
			continue
		}
		packages[path.Dir(f.path)] = true
		ast.Inspect(f.File, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			if name := selector(e); strings.HasPrefix(name, "os.") || slices.Contains(opening, name) {
				t.Errorf("%s: %s: let the agent's package open the file", f.at(n), name)
			}
			return true
		})
	}
	if len(packages) < 3 {
		t.Errorf("only %v found: the test looks in the wrong place", packages)
	}
}
