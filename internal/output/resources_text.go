package output

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// processGrid lays out a process tree: children indented below their parent, and the totals in the last row.
func processGrid(processes []Process, opts TextOptions) *grid {
	rows, pids, texts := processes, make([]string, len(processes)), make([]string, len(processes))
	for i, depth := range depths(processes) {
		pids[i], texts[i] = strconv.Itoa(processes[i].PID), strings.Repeat("  ", depth)+processes[i].text(opts)
	}
	if len(processes) > 1 {
		rows = append(slices.Clone(processes), Process{CPU: totalCPU(processes), Memory: totalMemory(processes)})
		pids, texts = append(pids, "total"), append(texts, "")
	}
	return newGrid(
		len(rows),
		column{title: "PID", cell: func(i int) string { return pids[i] }},
		column{title: "AGE", cell: func(i int) string { return ageText(rows[i].StartedAt, opts.Now) }, dropLate: 2, alignRight: true},
		column{title: "CPU", cell: func(i int) string { return cpuText(rows[i].CPU) }, alignRight: true},
		column{title: "MEMORY", cell: func(i int) string { return memoryText(rows[i].Memory) }, alignRight: true},
		column{title: "PORTS", cell: func(i int) string { return portsText(rows[i].Ports) }, dropLate: 1},
		column{title: "PROCESS", cell: func(i int) string { return texts[i] }},
	)
}

func (p Process) text(opts TextOptions) string {
	text := p.command(opts)
	switch {
	case p.Adapter != "":
		text += " " + Sanitize(fmt.Sprintf("(%s %s)", p.Adapter, cmp.Or(strings.Join(p.Sessions, ", "), "session")))
	case p.Shared:
		text += " (shared)"
	}
	return text
}

// command is the command line. On a terminal the program is shown without its directory.
func (p Process) command(opts TextOptions) string {
	line := p.Command
	if program, rest, _ := strings.Cut(line, " "); opts.Width > 0 && filepath.IsAbs(program) {
		line = filepath.Base(program) + " " + rest
	}
	return cmp.Or(Sanitize(line), Sanitize(p.Name))
}

// totalCPU is the processor time of all processes in seconds; nil if none is known.
func totalCPU(processes []Process) (sum *float64) {
	for _, p := range processes {
		sum = addKnown(sum, p.CPU)
	}
	return sum
}

// totalMemory is the memory of all processes in bytes. Memory that processes share counts once for each.
func totalMemory(processes []Process) (sum *int64) {
	for _, p := range processes {
		sum = addKnown(sum, p.Memory)
	}
	return sum
}

// allPorts are the ports of all processes, ascending. Several processes may listen on one port.
func allPorts(processes []Process) (all []int) {
	for _, p := range processes {
		all = append(all, p.Ports...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func addKnown[N int64 | float64](sum, n *N) *N {
	if sum == nil || n == nil {
		return cmp.Or(sum, n)
	}
	total := *sum + *n
	return &total
}

// cpuText formats processor time: 1.5s, 2m05s, 1h30m.
func cpuText(seconds *float64) string {
	if seconds == nil {
		return ""
	}
	switch d := time.Duration(*seconds * float64(time.Second)); {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
}

func memoryText(bytes *int64) string {
	if bytes == nil {
		return ""
	}
	return ByteSize(*bytes)
}

// ByteSize formats a number of bytes in a binary unit: 512 B, 1.5 KiB.
func ByteSize(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	size, prefix := float64(n)/unit, 0
	for size >= unit && prefix < len("KMGT")-1 {
		size, prefix = size/unit, prefix+1
	}
	return fmt.Sprintf("%.1f %ciB", size, "KMGT"[prefix])
}

func portsText(ports []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(ports), " ", ","), "[]")
}

// changesText describes the uncommitted changes, or why they are not known.
func (s *Session) changesText() string {
	c := s.Changes
	if c == nil {
		return s.ChangesError
	}
	parts := []string{c.countsText("%d changed", "%d untracked", ", ")}
	for _, n := range []struct {
		commits *int
		word    string
	}{{c.Ahead, "ahead of"}, {c.Behind, "behind"}} {
		if n.commits != nil && *n.commits > 0 {
			parts = append(parts, fmt.Sprintf("%d %s %s", *n.commits, n.word, c.Upstream))
		}
	}
	return strings.Join(parts, ", ")
}

// countsText formats the numbers of changed and of untracked files with the given format strings.
func (c *Changes) countsText(changed, untracked, separator string) string {
	var parts []string
	if c.Changed > 0 {
		parts = append(parts, fmt.Sprintf(changed, c.Changed))
	}
	if c.Untracked > 0 {
		parts = append(parts, fmt.Sprintf(untracked, c.Untracked))
	}
	return cmp.Or(strings.Join(parts, separator), "none")
}

// quotaText describes a usage limit as the agent recorded it.
func (o TextOptions) quotaText(q Quota) string {
	var parts []string
	if used := finite(q.Used); used != nil {
		parts = append(parts, fmt.Sprintf("%.3g%% used", *used))
	}
	if q.Reached {
		parts = append(parts, "reached")
	}
	if at, ok := parseTimestamp(q.ResetsAt); ok {
		clock := o.localTime(q.ResetsAt)
		if at.After(o.Now) {
			parts = append(parts, fmt.Sprintf("resets %s (in %s)", clock, Age(o.Now, at)))
		} else {
			parts = append(parts, fmt.Sprintf("has reset since, %s (%s ago)", clock, Age(at, o.Now)))
		}
	}
	if text := Sanitize(q.Text); text != "" {
		parts = append(parts, text)
	}
	if q.Time != "" {
		parts = append(parts, "noted "+o.agoText(q.Time))
	}
	return strings.TrimSpace(Sanitize(q.Name) + " " + strings.Join(parts, ", "))
}
