package main

import (
	"context"

	"agentctl/internal/cmdutil"
	"agentctl/tests/debian"
	"agentctl/tests/store/generate"
)

// stored are the rows about a large store. The public tools see the very same files.
func stored(b binaries, h home) ([]*work, error) {
	rg, err := debian.Ensure(context.Background(), debian.Package{Name: "ripgrep", Version: "13.0.0", Files: []string{"usr/bin/rg"}})
	if err != nil {
		return nil, err
	}
	agentctl := func(exit int, args ...string) job { return job{h.dir, append([]string{b.agentctl}, args...), exit} }
	tool := func(args ...string) job { return job{h.dir, args, 0} }
	const word = "xylophone" // that no session has
	claude, codex, opencode := generate.Homes(h.dir)
	version := agentctl(0, "version")
	find := tool("find", claude, codex, opencode, "-printf", `%T@ %p\n`)
	wc := tool("sh", "-c", `find "$@" -name '*.jsonl' -print0 | xargs -0 wc -l`, "sh", claude, codex)
	list := []*work{
		{what: "`version` ÷ hello world", limit: 3.5, job: version, yardstick: tool(b.hello)},
		{what: "`list -a --since all --json` ÷ `find -printf`", limit: 15, job: agentctl(0, "list", "-a", "--since", "all", "--json"), yardstick: find},
		{what: "`list -a --since all -n 20` ÷ `find -printf`", limit: 2, job: agentctl(0, "list", "-a", "--since", "all", "-n", "20"), yardstick: find},
		{what: "`list -a --since all --tokens` ÷ `wc -l`", limit: 3, job: agentctl(0, "list", "-a", "--since", "all", "--tokens", "--json"), yardstick: wc},
		{what: "`usage --since all` ÷ `wc -l`", limit: 3, job: agentctl(0, "usage", "--since", "all"), yardstick: wc},
		{
			what: "`search` of files for a rare word ÷ `rg -c`", limit: 3, job: agentctl(cmdutil.ExitNo, "search", "--since", "all", "--adapter", "claude-code,codex", word),
			yardstick: job{h.dir, []string{rg.Path("usr/bin/rg"), "-c", "-uuu", word, claude, codex}, 1},
		},
		{
			what: "`search` of a database for a rare word ÷ `cat`", limit: 6, job: agentctl(cmdutil.ExitNo, "search", "--since", "all", "--adapter", "opencode", word),
			yardstick: tool("sh", "-c", `cat "$1"/*.db >/dev/null`, "sh", opencode),
		},
		{what: "`guard` ÷ `version`", limit: 5, job: agentctl(0, "guard", h.dir), yardstick: version},
	}
	seen := map[string]bool{}
	for _, s := range h.sessions[len(h.sessions)/2:] { // one of each agent, of middle age
		if !seen[s.Agent] {
			seen[s.Agent] = true
			list = append(list,
				&work{what: "`status` of a full ID ÷ `version`, " + s.Agent, limit: 8, job: agentctl(0, "status", s.ID), yardstick: version},
				&work{what: "`peek` of a full ID ÷ `version`, " + s.Agent, limit: 8, job: agentctl(0, "peek", s.ID), yardstick: version})
		}
	}
	return list, nil
}
