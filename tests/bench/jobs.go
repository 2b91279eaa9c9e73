package main

import "agentctl/tests/store/generate"

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
	recent   = "agentctl list -a --json, to its first row"
	listAll  = "agentctl list -a --since all --json"
	newest   = "agentctl list -a --since all -n 20"
	tokens   = "agentctl list -a --since all --tokens --json"
	guard    = "agentctl guard"
	// Those that follow end with the agent whose session it is.
	status = "agentctl status "
	peek   = "agentctl peek "
)

// jobs are those that need no store.
func (b binaries) jobs() []*job {
	return []*job{
		{name: hello, argv: []string{b.hello}},
		{name: version, argv: []string{b.agentctl, "version"}, yardstick: hello},
	}
}

func psArgs() []string { return []string{"ps", "-eo", "pid,ppid,comm"} }

// storeJobs are those of one store. The public tools see the very same files.
func (b binaries) storeJobs(s storage) []*job {
	n, dir := len(s.sessions), s.home
	claude, codex, opencode := generate.Homes(dir)
	const wc = `find "$@" -name '*.jsonl' -print0 | xargs -0 wc -l`
	jobs := []*job{
		{name: findTree, argv: []string{"find", claude, codex, opencode, "-printf", `%T@ %p\n`}},
		{name: live, argv: []string{b.agentctl, "list"}, yardstick: hello},
		{name: guard, argv: []string{b.agentctl, "guard", dir}, yardstick: version},
		{name: listAll, argv: []string{b.agentctl, "list", "-a", "--since", "all", "--json"}, yardstick: findTree},
		{name: newest, argv: []string{b.agentctl, "list", "-a", "--since", "all", "-n", "20"}, yardstick: findTree},
		{name: wcLines, argv: []string{"sh", "-c", wc, "sh", claude, codex}},
		{name: tokens, argv: []string{b.agentctl, "list", "-a", "--since", "all", "--tokens", "--json"}, yardstick: wcLines},
	}
	seen := map[string]bool{}
	for _, s := range s.sessions[n/2:] {
		if !seen[s.Agent] { // one of each agent, of middle age
			seen[s.Agent] = true
			jobs = append(jobs,
				&job{name: status + s.Agent, argv: []string{b.agentctl, "status", s.ID}, yardstick: version},
				&job{name: peek + s.Agent, argv: []string{b.agentctl, "peek", s.ID}, yardstick: version})
		}
	}
	for _, j := range jobs {
		j.sessions, j.home = n, dir
	}
	return jobs
}
