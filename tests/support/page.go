package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/discover/storage"
	"agentctl/tests/realagents/install"
	"agentctl/tests/support/facts"
)

// page is docs/support.md: its rows, the newest version of each agent first.
type page []row

// row is what was seen of a release.
type row struct {
	install.Release
	tried   string   // the day
	results []string // in the order of the facts
}

// agents are the sections of the page.
func agents() []string {
	return []string{install.ClaudeCode, install.Codex, install.OpenCode, install.Pi, install.Copilot}
}

// parsePage reads the tables of a page. A page whose columns are not the facts has no rows: each version must be tried again.
func parsePage(text string) (p page, err error) {
	agent, current := "", false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "## "); ok {
			agent, current = name, false
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case !slices.Contains(agents(), agent) || !strings.HasPrefix(line, "| "):
		case line == header():
			current = true
		case current && len(cells) != len(facts.All())+2:
			return nil, fmt.Errorf("%s: the row %q has %d cells", pagePath, line, len(cells))
		case current:
			p = append(p, row{install.Release{Agent: agent, Version: cells[0]}, cells[1], cells[2:]})
		}
	}
	return p, nil
}

// set replaces the row of a release.
func (p *page) set(r install.Release, day time.Time, seen []facts.Seen) {
	added := row{Release: r, tried: day.Format(time.DateOnly)}
	for _, f := range facts.All() {
		i := slices.IndexFunc(seen, func(s facts.Seen) bool { return s.Fact == f.Name })
		added.results = append(added.results, seen[i].Result)
	}
	*p = append(slices.DeleteFunc(*p, func(x row) bool { return x.Release == r }), added)
}

// of returns the rows of an agent, the newest version first.
func (p page) of(agent string) (rows []row) {
	for _, r := range p {
		if r.Agent == agent {
			rows = append(rows, r)
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		x, y := storage.ParseVersion(a.Version), storage.ParseVersion(b.Version)
		return slices.Compare(y[:], x[:])
	})
	return rows
}

// hasOpenCode2 reports whether a program of OpenCode 2 was tried.
func (p page) hasOpenCode2() bool {
	rows := p.of(install.OpenCode)
	return len(rows) > 0 && strings.HasPrefix(rows[0].Version, "2.")
}

func header() string {
	titles := []string{"version", "tried"}
	for _, f := range facts.All() {
		titles = append(titles, f.Name)
	}
	return tableRow(titles)
}

func tableRow(cells []string) string { return "| " + strings.Join(cells, " | ") + " |" }

// text returns the page. The error names the results that no reason explains, and the reasons that explain none.
func (p page) text(reasons []reason) (string, error) {
	var b strings.Builder
	b.WriteString(`# Versions of the agents

These versions of the agents were run with agentctl, each in a home of its own and with a model on loopback. The tables have what was
seen. ` + "`go run ./tests/support`" + ` writes this page ([how](../CONTRIBUTING.md#try-versions-of-the-agents)). agentctl asks no agent for its version before it
reads: a version that is not here is read like the nearest one. ` + "`agentctl doctor`" + ` warns if a live agent is newer than all that are here.

| column | ` + "`yes`" + ` means |
|---|---|
`)
	for _, f := range facts.All() {
		b.WriteString(tableRow([]string{f.Name, f.Meaning}) + "\n")
	}
	var problems []error
	used := map[int]bool{} // the reasons
	for _, agent := range agents() {
		rows := p.of(agent)
		fmt.Fprintf(&b, "\n## %s\n\n%s\n|%s\n", agent, header(), strings.Repeat("---|", len(facts.All())+2))
		versions := map[int][]string{} // by reason
		for _, r := range rows {
			b.WriteString(tableRow(slices.Concat([]string{r.Version, r.tried}, r.results)) + "\n")
			for i, f := range facts.All() {
				if r.results[i] == facts.Yes || r.results[i] == facts.Exact {
					continue
				}
				j := slices.IndexFunc(reasons, func(why reason) bool { return why.explains(r.Release, f.Name) })
				if j < 0 {
					problems = append(problems, fmt.Errorf("%s, %s: %s is explained nowhere: mend it, or say why in tests/support/reasons.go", r.Release, f.Name, r.results[i]))
					continue
				}
				versions[j] = append(versions[j], r.Version)
				used[j] = true
			}
		}
		if agent == install.OpenCode && !p.hasOpenCode2() {
			b.WriteString("\nOpenCode 2 was read in source 2.0.26, not yet seen on the program ([what](agents/opencode.md#opencode-2)). `go run ./tests/support -opencode2 PATH`\n" +
				"compares a program with what was read, and adds its row here.\n")
		}
		lead := "\nWhat is not `yes`, and why:\n\n"
		for j, why := range reasons {
			if v := versions[j]; len(v) > 0 {
				fmt.Fprintf(&b, "%s- **%s**, %s: %s\n", lead, why.fact, strings.Join(v, ", "), why.text)
				lead = ""
			}
		}
	}
	for j, why := range reasons {
		if !used[j] {
			problems = append(problems, fmt.Errorf("tests/support/reasons.go: nothing needs the reason %q any more", why.text))
		}
	}
	return b.String(), errors.Join(problems...)
}
