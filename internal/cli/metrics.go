package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/proc"
)

type metricsOptions struct {
	CommonFlags
	since, output string
	tokens        bool
}

func metricsCommand(env Env) *cli.Command {
	o := &metricsOptions{}
	return &cli.Command{
		Usage: "print metrics of all sessions in Prometheus's text format, once",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "count stopped sessions active since `WHEN`, as for list (default: 7d, or the configuration's)", Destination: &o.since},
			AdapterFlag(&o.AdapterNames),
			&cli.BoolFlag{Name: "tokens", Usage: "count the tokens of every session; this reads whole files", Destination: &o.tokens},
			JSONFlag(&o.JSON),
			&cli.StringFlag{Name: "output", Usage: "write to `FILE` instead of stdout, and replace it atomically; - is stdout", Destination: &o.output},
		},
		CustomHelpTemplate: HelpTemplate("agentctl metrics", "agentctl metrics --output /var/lib/node_exporter/textfile/agentctl.prom"),
		Action: func(c *cli.Context) error {
			return runMetrics(c.Context, env, o)
		},
	}
}

func runMetrics(ctx context.Context, env Env, o *metricsOptions) error {
	c, calls, err := env.NewHostCall("metrics", &o.CommonFlags, nil, nil)
	if err != nil {
		return err
	}
	for i := range calls {
		calls[i] = calls[i].WithoutFlags("output") // the file is on this machine
	}
	list, after, err := Collect(ctx, c, calls, func(ctx context.Context) ([]object.Metric, []*discover.Warning, error) {
		return readMetrics(ctx, c, o)
	})
	if calls == nil && err != nil {
		return err
	}
	var metrics []object.Metric
	for _, m := range list {
		if i := slices.IndexFunc(metrics, func(known object.Metric) bool { return known.Name == m.Name }); i >= 0 {
			metrics[i].Samples = append(metrics[i].Samples, m.Samples...)
		} else {
			metrics = append(metrics, m)
		}
	}
	if calls != nil {
		if failed := after(); ExitCode(failed) == ExitInterrupted {
			return failed // a collector must not take a part for the whole
		}
		metrics = append(metrics, hostsUp(calls))
	}
	if err := printMetrics(ctx, c, metrics, o); err != nil {
		return err
	}
	return after()
}

// readMetrics measures the sessions of this machine.
func readMetrics(ctx context.Context, c *Call, o *metricsOptions) ([]object.Metric, []*discover.Warning, error) {
	filter := discover.SessionFilter{Agents: c.Agents, IncludeStopped: true, Subagents: true, Tokens: o.tokens}
	var err error
	if filter.Since, err = c.SinceTime("metrics", o.since); err != nil {
		return nil, nil, err
	}
	began := time.Now()
	working, done := c.StartWork(ctx, "reading the agents' stores")
	r, err := c.Scanner.List(working, filter)
	done()
	if err != nil {
		return nil, nil, err
	}
	var agents []discover.Agent
	for _, a := range c.Adapters {
		if len(c.Agents) == 0 || slices.Contains(c.Agents, a.Name()) {
			agents = append(agents, a.Name())
		}
	}
	metrics := slices.Concat(countSessions(agents, r.Sessions), measureLive(r.Sessions), countTokens(c.Env, agents, r.Sessions, discover.ReadOptions{Tokens: o.tokens}))
	if !filter.Since.IsZero() {
		window := object.Metric{Name: "agentctl_window_seconds", Help: "How long ago a stopped session may have been active to be counted."}
		window.Add(c.Style.Now.Sub(filter.Since).Seconds())
		metrics = append(metrics, window)
	}
	took := object.Metric{Name: "agentctl_scan_duration_seconds", Help: "Time that reading the processes and the agents' stores took."}
	took.Add(time.Since(began).Seconds())
	return append(metrics, countWarnings(agents, r.Warnings), buildInfo(c.Env), took), r.Warnings, nil
}

func printMetrics(ctx context.Context, c *Call, metrics []object.Metric, o *metricsOptions) error {
	metrics = slices.DeleteFunc(metrics, func(m object.Metric) bool { return len(m.Samples) == 0 })
	write := func(w io.Writer) error {
		if o.JSON {
			return render.JSONArray(w, metrics)
		}
		return render.Exposition(w, metrics)
	}
	if o.output != "" && o.output != "-" {
		return replaceMetricsFile(ctx, c, o.output, write)
	}
	return write(c.Stdout)
}

// replaceMetricsFile writes a file atomically, readable for all users, but none below an agent's home.
func replaceMetricsFile(ctx context.Context, c *Call, path string, write func(io.Writer) error) error {
	if err := CheckDirectory(filepath.Dir(path)); err != nil {
		return UsageError("metrics", "--output: %v", err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return UsageError("metrics", "--output: %s is not a regular file", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if store, err := storeAround(ctx, c, path, nil); err != nil {
		return err
	} else if store != "" {
		return UsageError("metrics", "--output: %s is below %s, where an agent stores its sessions", path, store)
	}
	return replaceFile(ctx, path, 0o644, write)
}

// countSessions counts the sessions that list -a shows, without sub-agents'. A count of none is 0, not missing.
func countSessions(agents []discover.Agent, sessions []discover.Session) []object.Metric {
	byStatus := object.Metric{Name: "agentctl_sessions", Help: "Sessions by status, the stopped ones of the window."}
	byOutcome := object.Metric{Name: "agentctl_stopped_sessions", Help: "Stopped sessions of the window, by how the last turn ended."}
	for _, agent := range agents {
		counts, outcomes := map[string]float64{}, map[discover.Outcome]float64{}
		for _, s := range sessions {
			if s.Agent == agent && !s.IsSubagent() {
				counts[string(s.Status)]++
				outcomes[s.Outcome]++
			}
		}
		for _, status := range Statuses() {
			byStatus.Add(counts[status], "adapter", string(agent), "status", status)
		}
		for _, outcome := range []discover.Outcome{discover.Completed, discover.Interrupted, discover.Failed, discover.OutcomeUnknown} {
			byOutcome.Add(outcomes[outcome], "adapter", string(agent), "outcome", string(outcome))
		}
	}
	return []object.Metric{byStatus, byOutcome}
}

func countWarnings(agents []discover.Agent, warnings []*discover.Warning) object.Metric {
	m := object.Metric{Name: "agentctl_unreadable", Help: "Stores, files and processes that could not be read; of the process table itself under the adapter processes."}
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
func countTokens(env Env, agents []discover.Agent, sessions []discover.Session, readOptions discover.ReadOptions) []object.Metric {
	const known = ", of the sessions of the window whose agent states them; without --tokens, where that is cheap to read."
	tokens := object.Metric{Name: "agentctl_tokens", Help: "Tokens by kind, as each agent counts them" + known}
	cost := object.Metric{Name: "agentctl_cost_dollars", Help: "Cost in US dollars, the agents' own figures" + known}
	counted := object.Metric{Name: "agentctl_tokens_sessions", Help: "Sessions, sub-agents' too, whose tokens are counted in agentctl_tokens."}
	for _, agent := range agents {
		inclusive := discover.AdapterOf(env.Adapters, agent).IncludesSubagents(readOptions)
		var sum discover.Tokens
		var dollars float64
		var stated, priced int
		for _, s := range sessions {
			if s.Agent != agent || inclusive && s.IsSubagent() {
				continue
			}
			if t := s.Tokens; t != nil {
				stated++
				sum = sum.Plus(*t)
			}
			if s.Cost != nil {
				priced++
				dollars += *s.Cost
			}
		}
		name := string(agent)
		counted.Add(float64(stated), "adapter", name)
		if stated > 0 {
			for _, kind := range []struct {
				name string
				n    int64
			}{{"in", sum.In}, {"out", sum.Out}, {"cacheRead", sum.CacheRead}, {"cacheWrite", sum.CacheWrite}, {"reasoning", sum.Reasoning}} {
				tokens.Add(float64(kind.n), "adapter", name, "kind", kind.name)
			}
		}
		if priced > 0 {
			cost.Add(dollars, "adapter", name)
		}
	}
	return []object.Metric{tokens, counted, cost}
}

func buildInfo(env Env) object.Metric {
	b := env.build()
	m := object.Metric{Name: "agentctl_build_info", Help: "1, with what is known of this binary."}
	m.Add(1, "version", b.Version, "revision", b.Revision, "goversion", b.Go)
	return m
}

// measureLive measures the processes of live sessions, each once: as a session's if the process runs that one alone,
// else as a process. Sub-agents run in the process of their root session.
func measureLive(sessions []discover.Session) []object.Metric {
	metrics := []object.Metric{
		{Name: "agentctl_session_memory_bytes", Help: "Resident memory of the agent's processes that run a live session and no other."},
		{Name: "agentctl_session_cpu_seconds_total", Help: "Processor time of the agent's processes that run a live session and no other.", Counter: true},
		{Name: "agentctl_shared_process_memory_bytes", Help: "Resident memory of an agent's process that runs several live sessions, or one that has no ID."},
		{Name: "agentctl_shared_process_cpu_seconds_total", Help: "Processor time of an agent's process that runs several live sessions, or one that has no ID.", Counter: true},
	}
	own, shared := metrics[:2], metrics[2:]
	key := func(s discover.Session) discover.Key { return discover.Key{Agent: s.Agent, ID: s.ID} }
	runners, names := map[proc.ID]int{}, map[discover.Key]int{}
	for _, s := range sessions {
		if len(s.Processes) > 0 && !s.IsSubagent() {
			names[key(s)]++
			for _, p := range s.Processes {
				runners[p.ID]++
			}
		}
	}
	measured := map[proc.ID]bool{}
	for _, s := range sessions {
		alone := !slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return runners[p.ID] > 1 })
		if alone && len(s.Processes) > 0 && s.ID != "" && !s.IsSubagent() && names[key(s)] == 1 {
			addProcesses(own, s.Processes, "adapter", string(s.Agent), "session", s.ID)
			for _, p := range s.Processes {
				measured[p.ID] = true
			}
		}
	}
	type agentProcess struct {
		agent discover.Agent
		proc.Process
	}
	var rest []agentProcess
	for _, s := range sessions {
		for _, p := range s.Processes {
			if !measured[p.ID] {
				measured[p.ID] = true
				rest = append(rest, agentProcess{s.Agent, p})
			}
		}
	}
	slices.SortFunc(rest, func(a, b agentProcess) int { return cmp.Compare(a.ID.PID, b.ID.PID) })
	for _, p := range rest {
		addProcesses(shared, []proc.Process{p.Process}, "adapter", string(p.agent), "pid", strconv.Itoa(p.ID.PID))
	}
	return metrics
}

// addProcesses adds the memory and the processor time of processes to the two metrics. If one cannot be read, nothing is added: a partial sum would be wrong.
func addProcesses(metrics []object.Metric, processes []proc.Process, labels ...string) {
	var memory, cpu float64
	for _, p := range processes {
		used, err := p.Usage()
		if err != nil {
			return
		}
		memory, cpu = memory+float64(used.Memory), cpu+used.CPU.Seconds()
	}
	metrics[0].Add(memory, labels...)
	metrics[1].Add(cpu, labels...)
}

func hostsUp(calls []HostCall) object.Metric {
	up := object.Metric{Name: "agentctl_host_up", Help: "1 if the host has answered in full."}
	for _, call := range calls {
		value := 0.0
		if call.complete.Load() {
			value = 1
		}
		up.Add(value, "host", call.Target.Name)
	}
	return up
}
