package main

import (
	"context"
	"io"

	"agentctl/internal/cmdutil"
	"agentctl/tests/debian"
	"agentctl/tests/store/generate"
)

// The names of the jobs of the searches, all for a word that no session has.
const (
	searchFiles    = "agentctl search, all files"
	ripgrep        = "rg -c"
	searchDatabase = "agentctl search, a database"
	catDatabase    = "cat"
	searchFirst    = "agentctl search, to its first result"
)

// measureSearch times searches of a whole store beside ripgrep and cat, which read the same files.
func measureSearch(w io.Writer, b binaries, rounds int, s storage) ([]bar, error) {
	rg := debian.Package{Name: "ripgrep", Version: "13.0.0", Files: []string{"usr/bin/rg"}}
	root, err := debian.Ensure(context.Background(), rg)
	if err != nil {
		return nil, err
	}
	const word = "xylophone" // that no session has
	claude, codex, opencode := generate.Homes(s.home)
	search := func(args ...string) []string {
		return append([]string{b.agentctl, "search", "--since", "all"}, args...)
	}
	jobs := []*job{
		{name: version, argv: []string{b.agentctl, "version"}},
		{name: ripgrep, argv: []string{root.Path("usr/bin/rg"), "-c", "-uuu", word, claude, codex}, exitCode: 1},
		{name: searchFiles, argv: search("--adapter", "claude-code,codex", word), yardstick: ripgrep, exitCode: cmdutil.ExitNo},
		{name: catDatabase, argv: []string{"sh", "-c", `cat "$1"/*.db >/dev/null`, "sh", opencode}},
		{name: searchDatabase, argv: search("--adapter", "opencode", word), yardstick: catDatabase, exitCode: cmdutil.ExitNo},
		{name: searchFirst, argv: search("-n", "1", "-m", "1", "parser"), yardstick: version, first: true},
	}
	for _, j := range jobs {
		j.home, j.sessions = s.home, len(s.sessions)
	}
	measure(rounds, jobs)
	if err := printTable(w, jobs); err != nil {
		return nil, err
	}
	job := func(name string) *job { return find(jobs, name, len(s.sessions)) }
	return []bar{
		ratio("`search` of files for a rare word ÷ `rg -c`", job(searchFiles), job(ripgrep), 1.5),
		counted("… MB resident", float64(job(searchFiles).rss), 1e6, 60, job(searchFiles)),
		ratio("`search` of OpenCode's database for a rare word ÷ `cat`", job(searchDatabase), job(catDatabase), 2),
		{what: "`search` to its first result, ms", measured: float64(job(searchFirst).median().Milliseconds()), limit: 200, known: job(searchFirst).failure == ""},
	}, nil
}
