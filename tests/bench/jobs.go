package main

import (
	"os/exec"
	"time"

	"agentctl/tests/store/generate"
)

// The names of the jobs, which the bars compare.
const (
	hello    = "hello world in Go"
	ps       = "ps -eo pid,ppid,comm"
	version  = "agentctl version"
	findTree = `find -printf '%T@ %p\n'`
	wcLines  = "wc -l"
	live     = "agentctl list"
	listLive = "agentctl list, ten live"
	listMany = "agentctl list, ten live, beside many processes"
	listAll  = "agentctl list -a --since all --json"
	newest   = "agentctl list -a --since all -n 20"
	week     = "agentctl list -a (of the store's last seven days)"
	search   = "rg -c -F"
	tokens   = "agentctl list -a --since all --tokens --json"
	guard    = "agentctl guard"
	// Those that follow end with the agent whose session it is.
	status = "agentctl status "
	prefix = "agentctl status of twelve characters "
	peek   = "agentctl peek "
)

// jobs are those that need no store.
func (b binaries) jobs() []*job {
	return []*job{
		{name: hello, argv: []string{b.hello}},
		{name: version, argv: []string{b.agentctl, "version"}, yardstick: hello},
		{name: ps, argv: psArgs()},
	}
}

func psArgs() []string { return []string{"ps", "-eo", "pid,ppid,comm"} }

// storeJobs are those of one store. The public tools see the very same files.
func (b binaries) storeJobs(dir string, sessions []generate.Session) []*job {
	n := len(sessions)
	claude, codex, opencode := generate.Homes(dir)
	const wc = `find "$@" -name '*.jsonl' -print0 | xargs -0 wc -l`
	jobs := []*job{
		{name: findTree, argv: []string{"find", claude, codex, opencode, "-printf", `%T@ %p\n`}},
		{name: live, argv: []string{b.agentctl, "list"}, yardstick: ps},
		{name: guard, argv: []string{b.agentctl, "guard", dir}, yardstick: ps},
		{name: listAll, argv: []string{b.agentctl, "list", "-a", "--since", "all", "--json"}, yardstick: findTree},
		{name: newest, argv: []string{b.agentctl, "list", "-a", "--since", "all", "-n", "20"}, yardstick: findTree},
		{name: week, argv: []string{b.agentctl, "list", "-a", "--since", lastWeek()}, yardstick: findTree},
		{name: wcLines, argv: []string{"sh", "-c", wc, "sh", claude, codex}},
		{name: tokens, argv: []string{b.agentctl, "list", "-a", "--since", "all", "--tokens", "--json"}, yardstick: wcLines},
	}
	if rg, err := exec.LookPath("rg"); err == nil {
		jobs = append(jobs, &job{name: search, argv: []string{rg, "-c", "-F", `"usage":`, claude, codex}})
	}
	seen := map[string]bool{}
	for _, s := range sessions[n/2:] {
		if !seen[s.Agent] { // one of each agent, of middle age
			seen[s.Agent] = true
			jobs = append(jobs,
				&job{name: status + s.Agent, argv: []string{b.agentctl, "status", s.ID}, yardstick: version},
				&job{name: peek + s.Agent, argv: []string{b.agentctl, "peek", s.ID}, yardstick: version})
			if s.Agent == "claude-code" { // whose IDs are random: those of the others begin with their time
				jobs = append(jobs, &job{name: prefix + s.Agent, argv: []string{b.agentctl, "status", s.ID[:12]}, yardstick: version})
			}
		}
	}
	for _, j := range jobs {
		j.sessions, j.home = n, dir
	}
	return jobs
}

// lastWeek is when the last seven days of a store begin.
func lastWeek() string { return generate.Defaults().End.AddDate(0, 0, -7).Format(time.RFC3339) }
