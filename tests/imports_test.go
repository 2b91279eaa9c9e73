// Package tests_test checks what holds for the source as a whole: who may import whom, what no file may contain, and
// what the released binary looks like.
package tests_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "agentctl"

// pkg is a package as `go list -json` tells of it.
type pkg struct {
	ImportPath, Name, Doc string
	Imports               []string
}

// name is the import path below the module; "." is main.
func (p pkg) name() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

// packages lists the module's packages as they are built for an operating system.
func packages(t *testing.T, goos string) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Doc,Imports", "./...")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var list []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

// layer says what a folder, and all below it that has no line of its own, may import of this module. An agent's
// package stands for every agent, a command's for every command: another one needs no line here.
type layer struct {
	folder string
	may    []string
}

func layers() []layer {
	return []layer{
		{"proc", nil},
		{"proc/multiplexer", []string{"proc"}},
		{"discover/storage", nil},
		{"discover/sqlite", []string{"discover/storage"}},
		{"discover", []string{"discover/storage", "proc", "proc/multiplexer"}},
		{"discover/ancestry", []string{"discover", "proc"}},
		{"discover/quiet", []string{"discover", "discover/ancestry", "proc"}},
		{"discover/watch", []string{"discover", "proc"}},
		{"discover/search", []string{"discover"}},
		{"discover/<agent>", []string{
			"discover", "discover/storage", "discover/sqlite", "launch", "proc",
		}},
		{"discover/<agent>/transcript", []string{"discover", "discover/storage"}}, // bytes to records: it opens no file
		{"discover/agents", []string{"discover", "discover/<agent>", "launch"}},
		{"launch", []string{"discover", "discover/ancestry", "discover/storage", "discover/watch", "lock", "proc", "proc/multiplexer", "launch"}},
		{"lock", []string{"discover", "discover/ancestry", "discover/storage", "proc"}},
		{"lock/githooks", []string{"discover", "discover/storage", "lock", "proc"}},
		{"internal/config", []string{"discover/storage", "internal/remote"}},
		{"internal/remote", nil},
		{"internal/webhook", nil},
		{"internal/object", []string{"discover", "discover/quiet", "discover/search", "discover/watch", "proc", "proc/multiplexer"}},
		{"internal/render", []string{"discover", "internal/object"}},
		{"internal/export", []string{"discover", "internal/object", "internal/render"}},
		{"internal/redact", nil},
		{"internal/terminal", nil},
		{"internal/manual", []string{"docs", "internal/render"}},
		{"docs", nil},
		{"internal/cli", []string{
			"discover", "discover/agents", "discover/ancestry", "discover/quiet", "discover/storage", "discover/search", "discover/watch", "internal/config", "internal/export", "internal/manual", "internal/object", "internal/redact", "internal/remote", "internal/render", "internal/terminal", "internal/webhook", "launch", "lock", "lock/githooks", "proc", "proc/multiplexer",
		}},
		{".", []string{"internal/cli"}},
	}
}

// outside says which folders may import a module of others. What is not here may be imported anywhere.
func outside() map[string][]string {
	return map[string][]string{
		"github.com/urfave/cli":         {"internal/cli"},
		"github.com/BurntSushi/toml":    {"internal/config", "lock"},
		"github.com/ncruces/go-sqlite3": {"discover/sqlite"},
		"github.com/klauspost/compress": {"discover/<agent>"},
		"github.com/mitchellh/go-ps":    {"proc"},
		"github.com/yuin/goldmark":      nil,
		"html/template":                 nil,                                      // 190 KB, and 90 allocations at each start
		"github.com/cpuguy83/go-md2man": nil,                                      // tests/packages/generate makes the man pages
		"github.com/prometheus":         nil,                                      // tests hold our metrics against its parser
		"net/http":                      {"discover/<agent>", "internal/webhook"}, // never to read: a server of OpenCode or Codex is asked to act
		"github.com/coder/websocket":    {"discover/<agent>"},
		"golang.org/x/net":              nil, // tests parse our pages with it
		"log":                           nil,
	}
}

// folder names the layer a package belongs to: itself, an agent, or the nearest folder above that has a line.
func folder(name string) string {
	for f := name; f != "."; f = path.Dir(f) {
		if slices.ContainsFunc(layers(), func(l layer) bool { return l.folder == f }) {
			return f
		}
		switch {
		case path.Dir(f) == "discover":
			return "discover/<agent>"
		case path.Base(f) == "transcript" && path.Dir(path.Dir(f)) == "discover":
			return "discover/<agent>/transcript"
		}
	}
	return name
}

func TestImports(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		t.Run(goos, func(t *testing.T) {
			t.Parallel()
			seen := map[string]bool{}
			for _, p := range packages(t, goos) {
				if p.name() == "tests" || strings.HasPrefix(p.name(), "tests/") {
					continue // they may use anything; nothing below uses them
				}
				seen[folder(p.name())] = true
				checkOwn(t, p)
				checkOutside(t, p)
			}
			if len(seen) < 5 {
				t.Errorf("only %d layers seen: the test looks in the wrong place", len(seen))
			}
		})
	}
}

func checkOwn(t *testing.T, p pkg) {
	t.Helper()
	from := folder(p.name())
	i := slices.IndexFunc(layers(), func(l layer) bool { return l.folder == from })
	if i < 0 {
		t.Errorf("%s is in no layer: give it a line in layers()", p.name())
		return
	}
	for _, imp := range p.Imports {
		to, ours := strings.CutPrefix(imp, module+"/")
		if !ours {
			continue
		}
		inside := strings.HasPrefix(to, p.name()+"/") && (folder(to) == from || strings.HasPrefix(folder(to), from+"/"))
		if !inside && !slices.Contains(layers()[i].may, folder(to)) {
			t.Errorf("%s imports %s: %s may import only %q", p.name(), to, from, layers()[i].may)
		}
	}
}

func checkOutside(t *testing.T, p pkg) {
	t.Helper()
	for _, imp := range p.Imports {
		for module, allowed := range outside() {
			if imp != module && !strings.HasPrefix(imp, module+"/") {
				continue
			}
			if !slices.Contains(allowed, folder(p.name())) {
				t.Errorf("%s imports %s: only %q may", p.name(), imp, allowed)
			}
		}
	}
}

// The layers are rules for folders; this checks that they are read as meant.
func TestFolders(t *testing.T) {
	for name, want := range map[string]string{
		".": ".", "proc": "proc", "discover": "discover", "discover/storage": "discover/storage",
		"discover/agents": "discover/agents", "discover/codex": "discover/<agent>", "discover/codex/x": "discover/<agent>",
		"discover/codex/transcript": "discover/<agent>/transcript",
		"discover/fourth":           "discover/<agent>", "launch/worktree": "launch", "internal/new": "internal/new",
	} {
		if got := folder(name); got != want {
			t.Errorf("%s is in %s, want %s", name, got, want)
		}
	}
}

func TestPackagesHaveComments(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		for _, p := range packages(t, goos) {
			if p.Doc == "" && p.name() != "tests" {
				t.Errorf("%s: package %s has no comment", goos, p.ImportPath)
			}
		}
	}
}
