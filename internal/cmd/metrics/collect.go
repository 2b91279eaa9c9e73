package metrics

import (
	"runtime/debug"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// collect measures the result of a list with sub-agents.
func collect(f cmdutil.Factory, r discover.Result, filter discover.SessionFilter, now time.Time) []output.Metric {
	var agents []discover.Agent
	for _, a := range f.Adapters {
		if len(filter.Agents) == 0 || slices.Contains(filter.Agents, a.Name()) {
			agents = append(agents, a.Name())
		}
	}
	metrics := slices.Concat(countSessions(agents, r.Sessions), measureLive(r.Sessions), countTokens(f, agents, r.Sessions, discover.ReadOptions{Tokens: filter.Tokens, Full: filter.Full}))
	if !filter.Since.IsZero() {
		window := output.Metric{Name: "agentctl_window_seconds", Help: "How long ago a stopped session may have been active to be counted."}
		window.Add(now.Sub(filter.Since).Seconds())
		metrics = append(metrics, window)
	}
	return append(metrics, countWarnings(agents, r.Warnings), buildInfo(f))
}

// countSessions counts the sessions that list -a shows, without sub-agents'. A count of none is 0, not missing.
func countSessions(agents []discover.Agent, sessions []discover.Session) []output.Metric {
	byStatus := output.Metric{Name: "agentctl_sessions", Help: "Sessions by status, the stopped ones of the window."}
	byOutcome := output.Metric{Name: "agentctl_stopped_sessions", Help: "Stopped sessions of the window, by how the last turn ended."}
	for _, agent := range agents {
		counts, outcomes := map[string]float64{}, map[discover.Outcome]float64{}
		for _, s := range sessions {
			if s.Agent == agent && !s.IsSubagent() {
				counts[string(s.Status)]++
				outcomes[s.Outcome]++
			}
		}
		for _, status := range cmdutil.Statuses() {
			byStatus.Add(counts[status], "adapter", string(agent), "status", status)
		}
		for _, outcome := range []discover.Outcome{discover.Completed, discover.Interrupted, discover.Failed, discover.OutcomeUnknown} {
			byOutcome.Add(outcomes[outcome], "adapter", string(agent), "outcome", string(outcome))
		}
	}
	return []output.Metric{byStatus, byOutcome}
}

func countWarnings(agents []discover.Agent, warnings []*discover.Warning) output.Metric {
	m := output.Metric{Name: "agentctl_unreadable", Help: "Stores, files and processes that could not be read; of the process table itself under the adapter processes."}
	counts := map[discover.Agent]float64{}
	for _, w := range warnings {
		counts[w.Agent]++
	}
	for _, agent := range agents {
		m.Add(counts[agent], "adapter", string(agent))
	}
	m.Add(counts[""], "adapter", "processes")
	return m
}

// countTokens sums up the tokens and costs that the agents state. A sub-agent's are not counted twice if the total of
// its root session includes them.
func countTokens(f cmdutil.Factory, agents []discover.Agent, sessions []discover.Session, readOptions discover.ReadOptions) []output.Metric {
	const known = ", of the sessions of the window whose agent states them; without --tokens, where that is cheap to read."
	tokens := output.Metric{Name: "agentctl_tokens", Help: "Tokens by kind, as each agent counts them" + known}
	cost := output.Metric{Name: "agentctl_cost_dollars", Help: "Cost in US dollars, the agents' own figures" + known}
	counted := output.Metric{Name: "agentctl_tokens_sessions", Help: "Sessions, sub-agents' too, whose tokens are counted in agentctl_tokens."}
	for _, agent := range agents {
		inclusive := discover.AdapterOf(f.Adapters, agent).IncludesSubagents(readOptions)
		var sum discover.Tokens
		var dollars float64
		var stated, priced int
		for _, s := range sessions {
			if s.Agent != agent || inclusive && s.IsSubagent() {
				continue
			}
			if t := s.Tokens; t != nil {
				stated++
				sum.In, sum.Out, sum.CacheRead = sum.In+t.In, sum.Out+t.Out, sum.CacheRead+t.CacheRead
				sum.CacheWrite, sum.Reasoning = sum.CacheWrite+t.CacheWrite, sum.Reasoning+t.Reasoning
			}
			if s.Cost != nil {
				priced++
				dollars += *s.Cost
			}
		}
		name := string(agent)
		counted.Add(float64(stated), "adapter", name)
		if stated > 0 {
			addTokens(&tokens, name, sum)
		}
		if priced > 0 {
			cost.Add(dollars, "adapter", name)
		}
	}
	return []output.Metric{tokens, counted, cost}
}

func addTokens(m *output.Metric, adapter string, t discover.Tokens) {
	for _, kind := range []struct {
		name string
		n    int64
	}{{"in", t.In}, {"out", t.Out}, {"cacheRead", t.CacheRead}, {"cacheWrite", t.CacheWrite}, {"reasoning", t.Reasoning}} {
		m.Add(float64(kind.n), "adapter", adapter, "kind", kind.name)
	}
}

func buildInfo(f cmdutil.Factory) output.Metric {
	info, _ := debug.ReadBuildInfo()
	b := cmdutil.BuildInfo(f.Version, info)
	m := output.Metric{Name: "agentctl_build_info", Help: "1, with what is known of this binary."}
	m.Add(1, "version", b.Version, "revision", b.Revision, "goversion", b.Go)
	return m
}
