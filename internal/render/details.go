package render

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"agentctl/internal/object"
)

// Details writes everything that is known of one session as text: one aligned line a fact, then its processes, its
// orphans, and the evidence that was considered.
func Details(w io.Writer, s *object.Session, opts TextOptions) error {
	out := bufio.NewWriter(w)
	list := opts.details(s)
	width := 0
	for _, d := range list {
		width = max(width, len(d.key))
	}
	for _, d := range list {
		text := Sanitize(d.value)
		if d.key == "status" && opts.Color {
			text = "\x1b[" + statusColor(s) + "m" + text + "\x1b[0m"
		}
		if text != "" {
			fmt.Fprintln(out, WrapHanging(fmt.Sprintf("%-*s  ", width, d.key), text, opts.Width))
		}
	}
	if len(s.Processes) > 0 {
		out.WriteByte('\n')
		_ = processGrid(s.Processes, opts).print(out, opts) // out keeps the error
	}
	if len(s.Orphans) > 0 {
		out.WriteString("\norphans, which the session left behind:\n")
		_ = processGrid(s.Orphans, opts).print(out, opts)
	}
	if s.Explain != nil {
		writeExplanation(out, s.Explain, opts.Width)
	}
	return out.Flush()
}

// detail is one line of [Details].
type detail struct{ key, value string }

// details returns the lines in the order in which they are printed. Lines without a value are not printed.
func (to TextOptions) details(s *object.Session) []detail {
	status, evidence := joinKnown(": ", statusText(s), WaitingOnText(s)), ""
	if s.WasOpen {
		status += ", was open"
	}
	if e := s.Evidence; e != nil {
		evidence = fmt.Sprintf("%s %s: %s", e.Strength, e.Kind, e.Detail)
	}
	var quotas []string
	for _, q := range s.Quotas {
		quotas = append(quotas, to.quotaText(q))
	}
	list := []detail{
		{"id", cmp.Or(object.Known(s.ID), "- (no evidence names the session of this process)")},
		{"host", s.Host},
		{"agent", strings.TrimSpace(s.Adapter + " " + Sanitize(s.Version))},
		{"status", status},
		{"in", interruptedText(s)},
		{"error", s.Error},
		{"doing", s.TurnDetail()},
		{"quiet", quietText(s)},
		{"title", s.Title},
		{"prompt", s.Prompt},
		{"dir", to.ShortDir(s.CWD)},
		{"branch", s.Branch},
		{"changes", changesText(s)},
		{"model", s.Model},
		{"source", s.Source},
		{"pid", to.processesText(s)},
		{"terminal", TerminalText(s.TTY, s.Terminal)},
		{"started", to.timeAndAge(s.StartedAt)},
		{"active", to.timeAndAge(s.LastActivityAt)},
		{"tokens", tokensText(s.Tokens)},
		{"cost", knownText(s.Cost, func(usd float64) string { return fmt.Sprintf("$%.4f", usd) })},
		{"quota", strings.Join(quotas, "; ")},
		{"group", s.Group},
		{"parent", s.ParentID},
		{"forked from", s.ForkedFrom},
		{"stored in", to.ShortDir(s.Path)},
		{"home", to.ShortDir(s.Home)},
		{"evidence", evidence},
	}
	for _, name := range slices.Sorted(maps.Keys(s.Meta)) {
		if name != "turnDetail" { // printed as "doing"
			list = append(list, detail{Sanitize(name), metaText(s.Meta[name])})
		}
	}
	return list
}

func (to TextOptions) processesText(s *object.Session) string {
	started := map[int]string{s.PID: s.ProcessStartedAt}
	for _, p := range s.Processes {
		started[p.PID] = p.StartedAt
	}
	var out []string
	for _, pid := range s.AllPIDs() {
		out = append(out, joinKnown(", since ", strconv.Itoa(pid), to.timeAndAge(started[pid])))
	}
	return strings.Join(out, "; ")
}

func tokensText(t *object.Tokens) string {
	if t == nil {
		return ""
	}
	var out []string
	for _, c := range []struct {
		n    int64
		name string
	}{
		{t.In, "in"},
		{t.Out, "out"},
		{t.CacheRead, "cache read"},
		{t.CacheWrite, "cache write"},
		{t.Reasoning, "reasoning"},
		{t.Total, "total"},
		{t.Context, "context"},
	} {
		if c.n != 0 {
			out = append(out, fmt.Sprintf("%d %s", c.n, c.name))
		}
	}
	if t.Window > 0 {
		out = append(out, fmt.Sprintf("%d%% of the window of %d", 100*t.Context/t.Window, t.Window))
	}
	return cmp.Or(strings.Join(out, ", "), "0")
}

func metaText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// writeExplanation prints the explanation, as status --explain does below the details.
func writeExplanation(w io.Writer, x *object.Explanation, width int) {
	fmt.Fprintln(w, WrapHanging("\nwhy: ", Sanitize(x.Verdict), width))
	if len(x.Considered) == 0 {
		fmt.Fprintln(w, "no process refers to it")
		return
	}
	fmt.Fprintln(w, "evidence considered:")
	for _, c := range x.Considered {
		mark := "  - "
		if c.Accepted {
			mark = "  + "
		}
		if c.PID != 0 {
			mark += fmt.Sprintf("pid %d  ", c.PID)
		}
		fmt.Fprintln(w, WrapHanging(mark, fmt.Sprintf("%s %s: %s", c.Strength, Sanitize(c.Kind), Sanitize(c.Detail)), width))
		if c.Turn != "" {
			fmt.Fprintf(w, "      it shows the turn: %s\n", c.Turn)
		}
		fmt.Fprintln(w, WrapHanging("      ", Sanitize(c.Why), width))
	}
}

// TerminalText says on one line where a process runs, such as "/dev/pts/3, tmux work:2 %5", safe for a terminal; "" if it has no
// terminal.
func TerminalText(tty string, t *object.Terminal) string {
	if t == nil {
		return Sanitize(tty)
	}
	return Sanitize(tty + ", " + terminalName(t))
}

// terminalName names the pane: the kind, the session and window with a colon between them, and the pane.
func terminalName(t *object.Terminal) string {
	return Sanitize(joinKnown(" ", t.Kind, joinKnown(":", t.Session, t.Window), t.Pane))
}

// processGrid lays out a process tree: children indented below their parent, and the totals in the last row.
func processGrid(processes []object.Process, opts TextOptions) *grid {
	rows, pids, texts := processes, make([]string, len(processes)), make([]string, len(processes))
	for i, depth := range depths(processes) {
		pids[i], texts[i] = strconv.Itoa(processes[i].PID), strings.Repeat("  ", depth)+processText(processes[i], opts)
	}
	if len(processes) > 1 {
		rows = append(slices.Clone(processes), object.Process{CPU: TotalCPU(processes), Memory: TotalMemory(processes)})
		pids, texts = append(pids, "total"), append(texts, "")
	}
	return newGrid(
		len(rows),
		column{title: "PID", cell: func(i int) string { return pids[i] }},
		column{title: "AGE", cell: func(i int) string { return ageText(rows[i].StartedAt, opts.Now) }, dropLate: 2, alignRight: true},
		column{title: "CPU", cell: func(i int) string { return knownText(rows[i].CPU, cpuText) }, alignRight: true},
		column{title: "MEMORY", cell: func(i int) string { return knownText(rows[i].Memory, ByteSize) }, alignRight: true},
		column{title: "PORTS", cell: func(i int) string { return numbersText(rows[i].Ports) }},
		column{title: "PROCESS", cell: func(i int) string { return texts[i] }, min: 16},
	)
}

// depths returns the distance of each process to the root of its tree. A parent stands before its children.
func depths(processes []object.Process) []int {
	out, byPID := make([]int, len(processes)), map[int]int{}
	for i, p := range processes {
		if above, ok := byPID[p.PPID]; ok {
			out[i] = above + 1
		}
		byPID[p.PID] = out[i]
	}
	return out
}

func processText(p object.Process, opts TextOptions) string {
	text := commandText(p, opts)
	switch {
	case p.Adapter != "":
		text += " " + Sanitize(fmt.Sprintf("(%s %s)", p.Adapter, cmp.Or(strings.Join(p.Sessions, ", "), "session")))
	case p.Shared:
		text += " (shared)"
	}
	return text
}

// commandText is the command line. On a terminal the program is shown without its directory.
func commandText(p object.Process, opts TextOptions) string {
	line := p.Command
	if program, rest, _ := strings.Cut(line, " "); opts.Width > 0 && filepath.IsAbs(program) {
		line = filepath.Base(program) + " " + rest
	}
	return cmp.Or(Sanitize(line), Sanitize(p.Name))
}

// TotalCPU is the processor time of all processes in seconds; nil if none is known.
func TotalCPU(processes []object.Process) *float64 {
	return sumKnown(processes, func(p object.Process) *float64 { return p.CPU })
}

// TotalMemory is the memory of all processes in bytes. Memory that processes share counts once for each.
func TotalMemory(processes []object.Process) *int64 {
	return sumKnown(processes, func(p object.Process) *int64 { return p.Memory })
}

// allPorts are the ports of all processes, ascending. Several processes may listen on one port.
func allPorts(processes []object.Process) (all []int) {
	for _, p := range processes {
		all = append(all, p.Ports...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func sumKnown[N int64 | float64](processes []object.Process, of func(object.Process) *N) (sum *N) {
	for _, p := range processes {
		if n := of(p); n != nil {
			sum = new(object.Known(sum) + *n)
		}
	}
	return sum
}

// changesText describes the uncommitted changes, or why they are not known.
func changesText(s *object.Session) string {
	c := s.Changes
	if c == nil {
		return s.ChangesError
	}
	parts := []string{countsText(c, "%d changed", "%d untracked", ", ")}
	if n := object.Known(c.Ahead); n > 0 {
		parts = append(parts, fmt.Sprintf("%d ahead of %s", n, c.Upstream))
	}
	if n := object.Known(c.Behind); n > 0 {
		parts = append(parts, fmt.Sprintf("%d behind %s", n, c.Upstream))
	}
	return strings.Join(parts, ", ")
}

// countsText formats the numbers of changed and of untracked files with the given format strings.
func countsText(c *object.Changes, changed, untracked, separator string) string {
	var parts []string
	if c.Changed > 0 {
		parts = append(parts, fmt.Sprintf(changed, c.Changed))
	}
	if c.Untracked > 0 {
		parts = append(parts, fmt.Sprintf(untracked, c.Untracked))
	}
	return cmp.Or(strings.Join(parts, separator), "none")
}

// Request writes a request to the user as text. No line of what the session itself says begins like one of ours: each has a bar before it, or the
// name of what it is.
func Request(w io.Writer, r *object.Request, opts TextOptions) error {
	out := bufio.NewWriter(w)
	line := func(name, text string) {
		if text = Sanitize(text); text != "" {
			fmt.Fprintf(out, "%-9s  %s\n", name, text)
		}
	}
	line("session", fmt.Sprintf("%s %s in %s", r.Session.Adapter, r.Session.Name(), opts.ShortDir(r.Session.CWD)))
	line("title", r.Session.Title)
	line("asks", r.Kind+": "+r.Tool)
	line("request", r.ID)
	line("reason", r.Reason)
	line("directory", r.CWD)
	if len(r.Questions) == 0 && r.Text != "" {
		bar(out, r.Text)
	}
	if SanitizeLines(r.Text) != r.Text {
		line("left out", "control sequences or characters that hide text: --json has all")
	}
	for _, q := range r.Questions {
		line("question", q.Header)
		bar(out, q.Text)
		for _, c := range q.Choices {
			text := c.Label
			if c.Description != "" {
				text += " – " + c.Description
			}
			line("choice", text)
		}
		if q.Multiple {
			line("", "several choices may be taken, with commas between them")
		}
		if q.FreeText {
			line("", "a text of your own may be given instead")
		}
	}
	line("always", r.Always)
	line("no", r.No)
	line("no answer", r.Unanswerable)
	return out.Flush()
}

// bar writes a text of several lines, each after a bar.
func bar(w io.Writer, text string) {
	for l := range strings.Lines(SanitizeLines(text)) {
		fmt.Fprintf(w, "| %s\n", strings.TrimRight(l, "\n"))
	}
}

// ReplyText is what became of an answer, on one line.
func ReplyText(r *object.Request) string {
	what := r.Text
	if len(r.Questions) > 0 {
		what = r.Questions[0].Text
	}
	text := Sanitize(r.Session.Name()) + "  " + Sanitize(r.Reply) + ": " + Truncate(Sanitize(r.Tool+": "+what), replyWidth)
	if r.Reply == "always" {
		text += "\n" + Sanitize(r.Always)
	}
	return text
}

// replyWidth is the width of what was asked, in the line that says that it was answered.
const replyWidth = 120
