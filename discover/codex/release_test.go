package codex

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/launch"
)

// Unload archives a session of the daemon and unarchives it, with its sub-agents, if it is stored and in no turn.
func TestUnload(t *testing.T) {
	stored := filepath.Join(t.TempDir(), nameA)
	if err := os.WriteFile(stored, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	family := func() []*fakeThread {
		return []*fakeThread{{ID: someID, Root: someID}, {ID: childID, Root: someID, Parent: someID}, {ID: otherID, Root: otherID}}
	}
	busy := family()
	busy[1].looks = 1
	for name, test := range map[string]struct {
		threads []*fakeThread
		source  string
		path    string
		daemon  bool
		unloads bool
		says    string
	}{
		"idle":                    {family(), "tui", stored, true, true, ""},
		"of exec --remote":        {family(), "exec", stored, true, true, ""},
		"not loaded any more":     {nil, "tui", stored, true, true, ""},
		"in a turn":               {busy, "tui", stored, true, false, "a turn has begun"},
		"of another client":       {family(), "vscode", stored, true, false, ""},
		"nothing is stored of it": {family(), "tui", "", true, false, ""},
		"in another server":       {family(), "tui", stored, false, false, ""},
	} {
		server := startServer(t, test.threads...)
		args := []string{"app-server", "--listen", "unix://" + server.path}
		if test.daemon {
			args = append(args, "--managed-daemon")
		}
		s := sessionServedBy(someID, args...)
		s.Source, s.Path = test.source, test.path
		unloads, err := (Adapter{}).Unload(t.Context(), s, launch.Environment{})
		if unloads != test.unloads || (err != nil) != (test.says != "") || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, %v", name, unloads, err)
		}
		asked := strings.Join(server.asked, "; ")
		if did := strings.Contains(asked, "thread/archive "+someID); did != (test.unloads && test.threads != nil) {
			t.Errorf("%s: asked %s", name, asked)
		}
		for _, f := range test.threads {
			if f.archived {
				t.Errorf("%s: %s is archived", name, f.ID)
			}
		}
	}
}

// The daemon says by the port of which terminal each thread was loaded. Sub-agents and threads that are not stored do not count.
func TestThreadsByPort(t *testing.T) {
	server := startServer(t, &fakeThread{ID: someID, Root: someID, port: 4001}, &fakeThread{ID: childID, Root: someID, Parent: someID, port: 4001},
		&fakeThread{ID: otherID, Root: otherID, port: 4002})
	s := sessionServedBy(someID, "app-server", "--listen", "unix://"+server.path)
	c, err := ask(t.Context(), server.path, s.Processes[0])
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	byPort, err := c.threadsByPort()
	if err != nil || !slices.Equal(byPort[4001], []string{someID}) || !slices.Equal(byPort[4002], []string{otherID}) || len(byPort) != 2 {
		t.Errorf("%v, %v", byPort, err)
	}
}
