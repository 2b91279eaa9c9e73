package main

import (
	"agentctl/discover/storage"
	"agentctl/tests/realagents/install"
)

// reason says why a fact does not hold with some versions of an agent.
type reason struct {
	agent, fact string
	// from and to are the first and the last version that it is true of; "" is no bound.
	from, to string
	text     string
}

// explains reports whether the reason is about a fact with a release.
func (why reason) explains(r install.Release, fact string) bool {
	v := storage.ParseVersion(r.Version)
	return why.agent == r.Agent && why.fact == fact && !v.Before(storage.ParseVersion(why.from)) &&
		(why.to == "" || !storage.ParseVersion(why.to).Before(v))
}

// reasonsFor returns the reasons for a page. Those of OpenCode 2 are needed once a program of it was tried.
func reasonsFor(p page) []reason {
	list := reasons()
	if p.hasOpenCode2() {
		for _, fact := range []string{"idle", "waiting"} {
			list = append(list, reason{install.OpenCode, fact, "2", "", "Of OpenCode 2, only headless runs are tried."})
		}
		list = append(list, reason{install.OpenCode, "send", "2", "", "A message during a turn was not tried (exit code 7): wait for its end, and `resume`."})
	}
	return list
}

func reasons() []reason {
	return []reason{
		{
			install.ClaudeCode, "send", "", "2.1.223",
			"These versions listen for no messages (exit code 7): update Claude Code.",
		},
		{
			install.Codex, "send", "", "0.147.0",
			"These versions take no messages (exit code 7): update Codex.",
		},
		{
			install.Copilot, "evidence", "", "1.0.88",
			"These versions hold no lock on a session: a file with the pid of the process names it.",
		},
		{install.Pi, "waiting", "", "", "Pi asks for no permission."},
		{install.Pi, "send", "", "", "Pi has no channel for messages (exit code 7)."},
	}
}
