package output

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// processGrid lays the processes out: what has been started by one stands indented below it, and what they use in all at the end.
func processGrid(processes []Process, look TextOptions) grid {
	g := grid{columns: []column{
		{header: "PID"},
		{header: "AGE", dropOrder: 2, alignRight: true},
		{header: "CPU", alignRight: true},
		{header: "MEMORY", alignRight: true},
		{header: "PORTS", dropOrder: 1},
		{header: "PROCESS"},
	}}
	for _, p := range processes {
		g.add(row{cells: []string{
			fmt.Sprint(p.PID), ageText(p.StartedAt, look.Now), cpuText(p.CPU), memoryText(p.Memory), portsText(p.Ports), p.text(look),
		}})
	}
	if len(processes) > 1 {
		m := Resources{Processes: processes}
		g.add(row{cells: []string{"total", "", cpuText(m.totalCPU()), memoryText(m.totalMemory()), "", ""}})
	}
	return g
}

func (p Process) text(look TextOptions) string {
	text := strings.Repeat("  ", p.Depth) + p.command(look)
	switch {
	case p.Adapter != "":
		text += " " + Sanitize(fmt.Sprintf("(%s %s)", p.Adapter, cmp.Or(strings.Join(p.Sessions, ", "), "session")))
	case p.Shared:
		text += " (shared)"
	}
	return text
}

// command is the command line; where room is short, the program without its folder.
func (p Process) command(look TextOptions) string {
	line := p.Command
	if program, rest, _ := strings.Cut(line, " "); look.Width > 0 && filepath.IsAbs(program) {
		line = filepath.Base(program) + " " + rest
	}
	return cmp.Or(Sanitize(line), Sanitize(p.Name))
}

// totalCPU is the processor time of all, in seconds; nil where none is known.
func (m Resources) totalCPU() (sum *float64) {
	for _, p := range m.Processes {
		sum = addKnown(sum, p.CPU)
	}
	return sum
}

// totalMemory is what all have in memory, in bytes: what they share is counted in each.
func (m Resources) totalMemory() (sum *int64) {
	for _, p := range m.Processes {
		sum = addKnown(sum, p.Memory)
	}
	return sum
}

// allPorts are those of all, ascending; several processes may listen on one.
func (m Resources) allPorts() (all []int) {
	for _, p := range m.Processes {
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

// cpuText is a time in the unit that suits it.
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

// ByteSize is a number of bytes in the unit that suits it.
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

// changesText says what is not committed, or why that is not known.
func (m Resources) changesText() string {
	c := m.Changes
	if c == nil {
		return m.ChangesError
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

// countsText counts what is not committed, in the given words.
func (c *Changes) countsText(changed, untracked, between string) string {
	var parts []string
	if c.Changed > 0 {
		parts = append(parts, fmt.Sprintf(changed, c.Changed))
	}
	if c.Untracked > 0 {
		parts = append(parts, fmt.Sprintf(untracked, c.Untracked))
	}
	return cmp.Or(strings.Join(parts, between), "none")
}

// quotaText says what the agent noted of a limit.
func (l TextOptions) quotaText(q discover.Quota) string {
	var parts []string
	if used := finite(q.Used); used != nil {
		parts = append(parts, fmt.Sprintf("%.3g%% used", *used))
	}
	if q.Reached {
		parts = append(parts, "reached")
	}
	if at := q.Resets; !at.IsZero() {
		clock := l.localTime(Timestamp(at))
		if at.After(l.Now) {
			parts = append(parts, fmt.Sprintf("resets %s (in %s)", clock, Age(l.Now, at)))
		} else {
			parts = append(parts, fmt.Sprintf("has reset since, %s (%s ago)", clock, Age(at, l.Now)))
		}
	}
	if text := Sanitize(q.Text); text != "" {
		parts = append(parts, text)
	}
	if !q.Time.IsZero() {
		parts = append(parts, fmt.Sprintf("noted %s ago", Age(q.Time, l.Now)))
	}
	return strings.TrimSpace(Sanitize(q.Name) + " " + strings.Join(parts, ", "))
}
