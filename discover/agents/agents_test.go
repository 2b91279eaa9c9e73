package agents

import (
	"testing"

	"agentctl/discover"
)

// Changes of every agent's sessions are noticed soon: not to know what to watch for is no error, but late.
func TestEveryAgentIsWatched(t *testing.T) {
	for _, a := range All() {
		w, ok := a.(discover.Watched)
		if !ok {
			t.Errorf("%s does not say what to watch", a.Name())
			continue
		}
		if files := w.Watch(discover.Session{Record: &discover.Record{Agent: a.Name(), Home: "/h"}}); len(files) == 0 {
			t.Errorf("%s: nothing tells that a process without a session begins one", a.Name())
		}
		p, ok := a.(discover.Program)
		if !ok || !w.MayRun("/usr/bin/"+p.Program()) || w.MayRun("/usr/bin/sh") {
			t.Errorf("%s does not know its own program", a.Name())
		}
	}
}
