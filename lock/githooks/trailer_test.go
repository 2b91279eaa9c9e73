package githooks_test

import (
	"os/exec"
	"slices"
	"testing"

	"agentctl/lock/githooks"
)

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
