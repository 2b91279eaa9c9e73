package worktree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/tests/must"
)

func (s *sandbox) look(dir string) *worktree.Changes {
	s.Helper()
	c, err := worktree.ReadChanges(s.Context(), hostOf(s), s.path(dir))
	if err != nil {
		s.Fatal(err)
	}
	return c
}

func TestLook(t *testing.T) {
	s := newSandbox(t)
	if got := s.look("repo"); got == nil || *got != (worktree.Changes{}) {
		t.Errorf("of a clean one: %+v", got)
	}
	s.git("", "clone", "-q", "repo", "clone")
	s.commit("repo", "two")
	s.git("clone", "fetch", "-q")
	s.commit("clone", "a")
	s.commit("clone", "b")
	s.write("clone/a", "changed\n")
	s.git("clone", "mv", "dir/b", "dir/c")
	s.write("clone/new/one", "1")
	s.write("clone/new/two", "1")
	s.write("clone/? M x\n", "1")
	want := worktree.Changes{Changed: 2, Untracked: 2, Upstream: "origin/main", Ahead: 2, Behind: 1, AheadBehindKnown: true}
	must.Do(t, os.Symlink(s.path("clone/dir"), s.path("link")))
	for _, dir := range []string{"clone", "clone/dir", "clone/new", "link"} { // link: to clone/dir
		if got := s.look(dir); got == nil || *got != want {
			t.Errorf("in %s: %+v, want %+v", dir, got, want)
		}
	}
	s.git("clone", "checkout", "-q", "--detach")
	if got := s.look("clone"); got.AheadBehindKnown || got.Upstream != "" || got.Changed != 2 {
		t.Errorf("detached: %+v", got)
	}
}

func TestLookWhereNothingIs(t *testing.T) {
	s := newSandbox(t)
	s.write("plain/file", "")
	for _, dir := range []string{"plain", "plain/file", "repo/gone", "gone"} {
		if got := s.look(dir); got != nil {
			t.Errorf("%s: %+v", dir, got)
		}
	}
	s.env = append(s.env, "PATH="+s.path("plain"))
	if got := s.look("repo"); got != nil {
		t.Errorf("without git: %+v", got)
	}
	s.write("plain/.git", "gitdir: /nowhere")
	s.env = append(s.env, "PATH="+os.Getenv("PATH"))
	if got := s.look("plain"); got != nil {
		t.Errorf("of a broken one: %+v", got)
	}
}

// TestLookRunsNothing: whatever the repository's own files name, none of it runs, and nothing is written.
func TestLookRunsNothing(t *testing.T) {
	s := newSandbox(t)
	s.write("trap", "#!/bin/sh\necho \"$0 $*\" >>"+s.path("sprung")+"\ncat\n")
	trap := s.path("trap")
	for _, hook := range []string{"fsmonitor-watchman", "post-index-change", "post-checkout", "query-watchman"} {
		s.write("repo/.git/hooks/"+hook, "#!/bin/sh\ntouch "+s.path("sprung")+"\n")
	}
	for _, setting := range []string{"core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "diff.external", "core.alternateRefsCommand", "alias.status", "alias.config"} {
		s.git("repo", "config", setting, trap)
	}
	s.git("repo", "config", "core.hooksPath", s.path("repo/.git/hooks"))
	s.git("repo", "config", "diff.x.textconv", trap)
	s.write("repo/.gitattributes", "* filter=x diff=x merge=x\n")
	untouched := func() string { return s.git("", "hash-object", "repo/.git/index", "repo/.git/config") }
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(s.path("repo/a"), later, later); err != nil { // git has to read it to know
		t.Fatal(err)
	}
	before := untouched()
	if got := s.look("repo"); got == nil || got.Untracked != 1 || got.Changed != 0 {
		t.Errorf("%+v", got)
	}
	for _, setting := range []string{"filter.x.clean", "filter.x.process", "lfs.extension.x.clean"} {
		s.git("repo", "config", setting, trap)
		if got, err := worktree.ReadChanges(t.Context(), hostOf(s), s.path("repo")); got != nil || !errors.Is(err, worktree.ErrFilterProgram) {
			t.Errorf("with %s: %+v, %v", setting, got, err)
		}
		s.git("repo", "config", "--unset", setting)
	}
	s.write("repo/.git/more", "[Filter \"X\"]\n\tCLEAN = "+trap+"\n")
	s.git("repo", "config", "include.path", "more")
	if got, err := worktree.ReadChanges(t.Context(), hostOf(s), s.path("repo")); got != nil || !errors.Is(err, worktree.ErrFilterProgram) {
		t.Errorf("included: %+v, %v", got, err)
	}
	s.git("repo", "config", "--unset", "include.path")
	if untouched() != before {
		t.Error("the index or the configuration has changed")
	}
	if said, err := os.ReadFile(s.path("sprung")); err == nil {
		t.Errorf("it ran %s", said)
	}
	// The trap does work.
	s.git("repo", "config", "filter.x.clean", trap)
	s.git("repo", "status")
	if _, err := os.Stat(s.path("sprung")); err != nil {
		t.Error("a person's git status runs nothing either: the test proves nothing")
	}
}

// TestLookWithThePersonsFilters: a filter of the user's own configuration is what git is told to use.
func TestLookWithThePersonsFilters(t *testing.T) {
	s := newSandbox(t)
	s.write("repo/.gitattributes", "*.up filter=up\n")
	s.git("", "config", "--global", "filter.up.clean", "tr a-z A-Z")
	s.write("repo/x.up", "abc\n")
	s.commit("repo", "two")
	later := time.Now().Add(time.Hour)
	must.Do(t, os.Chtimes(s.path("repo/x.up"), later, later))
	if got := s.look("repo"); got.Changed != 0 {
		t.Errorf("%+v", got)
	}
}

// TestLookFetchesNothing: of a partial clone, git lacks what it would compare.
func TestLookFetchesNothing(t *testing.T) {
	s := newSandbox(t)
	s.git("repo", "config", "uploadpack.allowFilter", "true")
	s.git("", "clone", "-q", "--no-checkout", "--filter=blob:none", "file://"+s.path("repo"), "partial")
	s.git("partial", "read-tree", "HEAD")
	s.git("partial", "rm", "-q", "--cached", "a") // and is found again, perhaps, under another name
	s.write("partial/b", "2 \n")
	s.git("partial", "add", "b")
	must.Do(t, os.Rename(s.path("repo"), s.path("away")))
	s.git("partial", "config", "remote.origin.url", "ext::touch "+s.path("sprung"))
	s.git("partial", "config", "protocol.ext.allow", "always")
	got, err := worktree.ReadChanges(t.Context(), hostOf(s), s.path("partial"))
	if err == nil && got.Changed == 0 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(s.path("sprung")); err == nil {
		t.Error("it ran the remote's program")
	}
	_ = s.gitCommand("partial", "status").Run()
	if _, err := os.Stat(s.path("sprung")); err != nil {
		t.Error("a person's git status fetches nothing either: the test proves nothing")
	}
}

// TestLookEndsInTime: a repository that git does not come to an end with.
func TestLookEndsInTime(t *testing.T) {
	s := newSandbox(t)
	must.Do(t, unix.Mkfifo(filepath.Join(s.path("repo"), ".git", "endless"), 0o600))
	s.write("repo/.git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[include]\n\tpath = endless\n")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if got, err := worktree.ReadChanges(ctx, hostOf(s), s.path("repo")); got != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A worktree that is removed while git is asked has no changes, and is no failure.
func TestLookWhileItIsRemoved(t *testing.T) {
	s := newSandbox(t)
	s.write("bin/git", "#!/bin/sh\nrm -rf \"$2\"\nexit 128\n") // git -C DIR
	must.Do(t, os.Chmod(s.path("bin/git"), 0o700))
	host := launch.Environment{Environ: []string{"PATH=" + s.path("bin") + ":/usr/bin:/bin"}}
	if got, err := worktree.ReadChanges(t.Context(), host, s.path("repo")); got != nil || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLookStaysOutOfSubmodules: they have configurations of their own. That one is on another commit is told.
func TestLookStaysOutOfSubmodules(t *testing.T) {
	s := newSandbox(t)
	s.write("trap", "#!/bin/sh\ntouch "+s.path("sprung")+"\ncat\n")
	s.git("", "init", "-q", "outer")
	s.git("outer", "submodule", "--quiet", "add", "../repo", "sub")
	s.commit("outer", "one")
	s.git("outer/sub", "config", "filter.x.clean", s.path("trap"))
	s.git("outer/sub", "config", "core.fsmonitor", s.path("trap"))
	s.write("outer/sub/.gitattributes", "* filter=x\n")
	s.write("outer/sub/a", "changed\n")
	if got := s.look("outer"); got == nil || got.Changed != 0 {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(s.path("sprung")); err == nil {
		t.Error("it ran what the submodule names")
	}
	s.git("outer/sub", "config", "--unset", "filter.x.clean")
	s.git("outer/sub", "config", "--unset", "core.fsmonitor")
	s.commit("outer/sub", "two")
	if got := s.look("outer"); got == nil || got.Changed != 1 {
		t.Errorf("on another commit: %+v", got)
	}
}
