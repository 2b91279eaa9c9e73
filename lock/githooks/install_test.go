package githooks_test

import (
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentctl/lock/githooks"
	"agentctl/tests/must"
)

const hooksDir = "repo/.git/hooks"

// kept are hooks that a person may have: what git makes of them stays the same beside ours.
func kept(s *sandbox) map[string]struct {
	text   string
	mode   fs.FileMode
	says   string
	failed bool
} {
	python, err := os.Readlink("/proc/self/exe") // any binary: this one lists no tests
	if err != nil {
		s.Skip(err)
	}
	binary, err := os.ReadFile(python)
	if err != nil {
		s.Fatal(err)
	}
	return map[string]struct {
		text   string
		mode   fs.FileMode
		says   string
		failed bool
	}{
		"none":           {},
		"sh":             {"#!/bin/sh\necho mine $0 $#\n", 0o755, "mine .git/hooks/pre-commit 0", false},
		"sh, failing":    {"#!/bin/sh\necho mine\nexit 3\n", 0o755, "mine", true},
		"strict":         {"#! /bin/sh -eu\necho mine\n", 0o700, "mine", false},
		"env":            {"#!/usr/bin/env -S A=1 bash -e\necho mine $A\n", 0o755, "mine 1", false},
		"only a shebang": {"#!/bin/sh\n", 0o755, "", false},
		"no shebang":     {"echo mine\n", 0o755, "mine", false},
		"no line break":  {"#!/bin/sh\necho mine", 0o755, "mine", false},
		"no line at all": {"#!/bin/sh", 0o755, "", false},
		"empty":          {"", 0o755, "", false},
		"CRLF":           {"#!/bin/sh\necho mine #\r\n", 0o755, "mine", false},
		"CRLF, broken":   {"#!/bin/sh\r\necho mine\r\n", 0o755, "", true},
		"other program":  {"#!/usr/bin/awk -f\nBEGIN { print \"mine\" }\n", 0o755, "mine", false},
		"binary":         {string(binary), 0o755, "", false},
		"not executable": {"#!/bin/sh\necho mine\n", 0o644, "", false},
	}
}

// What was there goes on as before; installing twice is installing once; uninstalling leaves nothing.
func TestInstallAndUninstall(t *testing.T) {
	for name, tc := range kept(newSandbox(t)) {
		t.Run(name, func(t *testing.T) {
			s := newSandbox(t)
			s.env = append(s.env, helperKey+"=uninstall") // the binary's own answer
			if tc.mode != 0 {
				s.write(hooksDir+"/pre-commit", tc.text, tc.mode)
			}
			before := s.tree(hooksDir)
			if got := s.install("repo"); got != "installed+" {
				t.Fatalf("install: %s", got)
			}
			installed := s.tree(hooksDir)
			if got := s.install("repo"); got != "installed" || s.tree(hooksDir) != installed {
				t.Errorf("again: %s", got)
			}
			if name == "binary" {
				// It is run as a hook without the arguments that it needs.
				tc.failed = true
			}
			out, err := s.commit("repo")
			if (err != nil) != tc.failed || tc.says != "" && out != tc.says && !strings.HasPrefix(out, tc.says+"\n") {
				t.Errorf("commit: %q, %v", out, err)
			}
			want := "hooks run pre-commit"
			if !tc.failed {
				want += "; hooks run prepare-commit-msg -- .git/COMMIT_EDITMSG message"
			}
			if got := s.called(); got != want {
				t.Errorf("called: %s, want %s", got, want)
			}
			if got := s.uninstall("repo"); got != "not_installed+" || s.tree(hooksDir) != before {
				t.Errorf("uninstall: %s\n%s\nbefore:\n%s", got, s.tree(hooksDir), before)
			}
			if got := s.uninstall("repo"); got != "not_installed" || s.tree(hooksDir) != before {
				t.Errorf("uninstall again: %s", got)
			}
		})
	}
}

// The hook finds agentctl where it was installed, else along PATH, else it lets git go on without a word.
func TestWhereTheProgramIs(t *testing.T) {
	s := newSandbox(t)
	s.install("repo")
	must.Do(t, os.Rename(s.path("it's"), s.path("bin")))
	if out, err := s.commit("repo"); out != "" || err != nil || s.called() != "" {
		t.Errorf("nowhere: %q, %v", out, err)
	}
	s.env[0] = "PATH=" + s.path("bin") + ":" + os.Getenv("PATH")
	s.code("5")
	if _, err := s.commit("repo"); err == nil || s.called() != "hooks run pre-commit" {
		t.Errorf("along PATH: %v", err)
	}
}

// A hook gets its arguments and what git writes to it; agentctl takes nothing of that.
func TestStdinIsTheHooks(t *testing.T) {
	for _, hook := range []string{"#!/bin/sh\necho $2; cat\n", "#!/usr/bin/awk -f\nBEGIN { print ARGV[2]; ARGC = 1 } { print }\n"} {
		s := newSandbox(t)
		s.git("", "init", "-q", "--bare", "far.git")
		s.write(hooksDir+"/pre-push", hook, 0o755)
		s.install("repo")
		out := s.git("repo", "push", "-q", "../far.git", "HEAD:refs/heads/new")
		if !strings.HasPrefix(out, "../far.git\nHEAD ") || !strings.Contains(out, " refs/heads/new 0000000") {
			t.Errorf("%s: %q", hook, out)
		}
		if s.read("stdin") != "" || s.called() != "hooks run pre-push" {
			t.Errorf("agentctl got %q", s.read("stdin"))
		}
	}
}

// A hook whose program is gone does nothing, which status tells.
func TestProgramIsGone(t *testing.T) {
	s := newSandbox(t)
	s.install("repo")
	if h := s.status("repo")[0]; h.Reason != "" || h.Advice != "" {
		t.Errorf("%+v", h)
	}
	must.Do(t, os.Rename(s.wanted().Program, s.path("elsewhere")))
	if h := s.status("repo")[0]; h.State != githooks.Installed || !strings.HasPrefix(h.Reason, s.wanted().Program+" is gone") || h.Advice == "" {
		t.Errorf("%+v", h)
	}
}

// Other options and another place are written over the old ones.
func TestInstallAnew(t *testing.T) {
	s := newSandbox(t)
	s.write(hooksDir+"/pre-push", "#!/bin/cat\n", 0o755)
	s.write(hooksDir+"/pre-rebase", "#!/bin/sh\nexit 0\n", 0o755)
	before := s.tree(hooksDir)
	s.install("repo")
	list, err := s.find("repo").Install(s.Context(), githooks.InstallOptions{Program: "/new/agentctl", Merges: true})
	if err != nil || states(list) != "installed+" || list[1].Program != "/new/agentctl" || !list[1].Merges || list[4].Original == "" {
		t.Errorf("%+v, %v", list, err)
	}
	if again := s.install("repo"); again != "installed+" {
		t.Error(again)
	}
	if s.status("repo")[0].Program != s.wanted().Program {
		t.Errorf("%+v", s.status("repo")[0])
	}
	if s.uninstall("repo"); s.tree(hooksDir) != before {
		t.Error(s.tree(hooksDir))
	}
}

// Lines that a person has added to a hook of ours stay.
func TestAddedLines(t *testing.T) {
	s := newSandbox(t)
	s.install("repo")
	s.write(hooksDir+"/pre-commit", s.read(hooksDir+"/pre-commit")+"echo added\n", 0o755)
	if out, err := s.commit("repo"); out != "added" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if got := s.install("repo"); got != "installed" {
		t.Error(got)
	}
	s.uninstall("repo")
	if got := s.tree(hooksDir); !strings.Contains(got, `pre-commit -rwxr-xr-x "#!/bin/sh\necho added\n"`) || strings.Contains(got, "agentctl") {
		t.Error(got)
	}
}

// Of many who install at the same time, all succeed, and it is installed once.
func TestInstallAtOnce(t *testing.T) {
	s := newSandbox(t)
	s.write(hooksDir+"/pre-commit", "#!/bin/sh\n", 0o755)
	s.write(hooksDir+"/pre-push", "#!/bin/cat\n", 0o755)
	before := s.tree(hooksDir)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.find("repo").Install(s.Context(), s.wanted()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := states(s.status("repo")); got != "installed" {
		t.Error(got)
	}
	if s.uninstall("repo"); s.tree(hooksDir) != before {
		t.Error(s.tree(hooksDir))
	}
}

// message is the text of a commit as its hook finds it.
func (s *sandbox) message(text, source string) githooks.Message {
	s.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		s.Fatal(err)
	}
	s.write("message", text, 0o644)
	env := append(slices.Clip(s.env), "GIT_DIR="+s.path("repo/.git"))
	return githooks.Message{File: s.path("message"), Source: source, GitPath: program, Environ: env}
}

func TestAdd(t *testing.T) {
	s := newSandbox(t)
	const trailer = "Agent-Session: codex/1\n"
	for text, want := range map[string]string{
		"subject\n":                    "subject\n\n" + trailer,
		"subject":                      "subject\n\n" + trailer,
		"subject\n\nbody\n":            "subject\n\nbody\n\n" + trailer,
		"subject\n\n---\nno patch\n":   "subject\n\n---\nno patch\n\n" + trailer,
		"subject\n\nFixes: 1\n":        "subject\n\nFixes: 1\n" + trailer,
		"subject\n\n" + trailer:        "subject\n\n" + trailer,
		"a\n\nAgent-Session: x/2\n":    "a\n\nAgent-Session: x/2\n",
		"subject\n\n# a comment\n":     "subject\n\n" + trailer + "\n# a comment\n",
		"":                             "",
		"\n \n":                        "\n \n",
		"# Please enter the message\n": "# Please enter the message\n",
	} {
		if err := s.message(text, "message").AddTrailer(t.Context(), "codex/1"); err != nil {
			t.Error(err)
		}
		if got := s.read("message"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A person's own settings for trailers do not move or repeat it.
func TestAddDespiteSettings(t *testing.T) {
	s := newSandbox(t)
	for _, set := range [][]string{{"trailer.where", "start"}, {"trailer.ifexists", "add"}, {"trailer.ifmissing", "doNothing"}, {"core.commentChar", ";"}} {
		s.git("repo", "config", set[0], set[1])
	}
	m := s.message("subject\n\nFixes: 1\n", "message")
	for range 2 {
		if err := m.AddTrailer(t.Context(), "codex/1"); err != nil {
			t.Error(err)
		}
	}
	if got := s.read("message"); got != "subject\n\nFixes: 1\nAgent-Session: codex/1\n" {
		t.Errorf("%q", got)
	}
}

// The separator between key and value is the one that git is configured to write.
func TestAddWithSeparators(t *testing.T) {
	for separators, want := range map[string]string{
		"%": "Agent-Session% codex/1", "=": "Agent-Session= codex/1", "=:": "Agent-Session= codex/1", ":=": "Agent-Session: codex/1",
	} {
		s := newSandbox(t)
		s.git("repo", "config", "trailer.separators", separators)
		m := s.message("subject\n", "message")
		for range 2 {
			if err := m.AddTrailer(t.Context(), "codex/1"); err != nil {
				t.Error(err)
			}
		}
		if got := s.read("message"); got != "subject\n\n"+want+"\n" {
			t.Errorf("%s: %q", separators, got)
		}
	}
}

func TestTakes(t *testing.T) {
	s := newSandbox(t)
	for source, want := range map[string]struct{ plain, merges bool }{
		"message": {true, true}, "commit": {true, true}, "merge": {false, true}, "squash": {false, true}, "template": {}, "": {}, "new": {},
	} {
		m := s.message("subject\n", source)
		plain, err := m.AcceptsTrailer(t.Context(), false)
		merges, err2 := m.AcceptsTrailer(t.Context(), true)
		if err != nil || err2 != nil || plain != want.plain || merges != want.merges {
			t.Errorf("%q: %t, %t, %v, %v", source, plain, merges, err, err2)
		}
	}
	for _, name := range []string{"CHERRY_PICK_HEAD", "rebase-merge/done", "rebase-apply/next"} {
		s := newSandbox(t)
		s.write("repo/.git/"+name, "", 0o644)
		if takes, err := s.message("subject\n", "message").AcceptsTrailer(t.Context(), true); takes || err != nil {
			t.Errorf("%s: %t, %v", name, takes, err)
		}
	}
}
