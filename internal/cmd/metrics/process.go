package metrics

import (
	"slices"
	"sort"
	"strconv"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/proc"
)

// measureLive measures the processes of live sessions, each once: as a session's if the process runs that one alone,
// else as a process. Sub-agents run in the process of their root session.
func measureLive(sessions []discover.Session) []output.Metric {
	of := usage{
		memory: output.Metric{Name: "agentctl_session_memory_bytes", Help: "Resident memory of the agent's processes that run a live session and no other."},
		cpu:    output.Metric{Name: "agentctl_session_cpu_seconds_total", Help: "Processor time of the agent's processes that run a live session and no other.", Counter: true},
	}
	shared := usage{
		memory: output.Metric{Name: "agentctl_shared_process_memory_bytes", Help: "Resident memory of an agent's process that runs several live sessions, or one that has no ID."},
		cpu:    output.Metric{Name: "agentctl_shared_process_cpu_seconds_total", Help: "Processor time of an agent's process that runs several live sessions, or one that has no ID.", Counter: true},
	}
	sole := soleSessions(sessions)
	var rest []agentProcess
	for _, s := range sessions {
		if sole(s) {
			of.add(s.Processes, "adapter", string(s.Agent), "session", s.ID)
			continue
		}
		for _, p := range s.Processes {
			a := agentProcess{s.Agent, p}
			seen := slices.ContainsFunc(rest, func(b agentProcess) bool { return b.ID == p.ID })
			if !seen && !slices.ContainsFunc(sessions, func(o discover.Session) bool { return sole(o) && o.HasProcess(p.ID) }) {
				rest = append(rest, a)
			}
		}
	}
	sort.Slice(rest, func(i, j int) bool { return rest[i].ID.PID < rest[j].ID.PID })
	for _, p := range rest {
		shared.add([]proc.Process{p.Process}, "adapter", string(p.agent), "pid", strconv.Itoa(p.ID.PID))
	}
	return []output.Metric{of.memory, of.cpu, shared.memory, shared.cpu}
}

type agentProcess struct {
	agent discover.Agent
	proc.Process
}

// usage has the two metrics of a process.
type usage struct{ memory, cpu output.Metric }

// add sums up the usage of processes. If one cannot be read, nothing is added: a partial sum would be wrong.
func (u *usage) add(processes []proc.Process, labels ...string) {
	var memory, cpu float64
	for _, p := range processes {
		used, err := p.Usage()
		if err != nil {
			return
		}
		memory, cpu = memory+float64(used.Memory), cpu+used.CPU.Seconds()
	}
	u.memory.Add(memory, labels...)
	u.cpu.Add(cpu, labels...)
}

// soleSessions returns a function that reports whether a session shares neither its processes nor its ID with another
// one.
func soleSessions(sessions []discover.Session) func(discover.Session) bool {
	runners, names := map[proc.ID]int{}, map[discover.Key]int{}
	for _, s := range sessions {
		if len(s.Processes) > 0 && !s.IsSubagent() {
			names[discover.Key{Agent: s.Agent, ID: s.ID}]++
			for _, p := range s.Processes {
				runners[p.ID]++
			}
		}
	}
	return func(s discover.Session) bool {
		return len(s.Processes) > 0 && s.ID != "" && !s.IsSubagent() && names[discover.Key{Agent: s.Agent, ID: s.ID}] == 1 &&
			!slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return runners[p.ID] > 1 })
	}
}
