package output

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Details writes everything that is known of one session as text: one aligned line a fact, then its processes, its
// orphans, and the evidence that was considered.
func Details(w io.Writer, s *Session, opts TextOptions) error {
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
			fmt.Fprintf(out, "%-*s  %s\n", width, d.key, text)
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
		s.Explain.write(out)
	}
	return out.Flush()
}

// detail is one line of [Details].
type detail struct{ key, value string }

// details returns the lines in the order in which they are printed. Lines without a value are not printed.
func (o TextOptions) details(s *Session) []detail {
	id := "- (no evidence names the session of this process)"
	if s.ID != nil {
		id = *s.ID
	}
	list := []detail{
		{"id", id},
		{"host", s.Host},
		{"agent", strings.TrimSpace(s.Adapter + " " + Sanitize(s.Version))},
		{"status", statusWithCall(s)},
		{"error", s.Error},
		{"doing", s.turnDetail()},
		{"title", s.Title},
		{"prompt", s.Prompt},
		{"dir", o.shortDir(s.CWD)},
		{"branch", s.Branch},
		{"changes", s.changesText()},
		{"model", s.Model},
		{"source", s.Source},
		{"pid", o.processesText(s)},
		{"terminal", TerminalText(s.TTY, s.Terminal)},
		{"started", o.timeAndAge(s.StartedAt)},
		{"active", o.timeAndAge(s.LastActivityAt)},
		{"tokens", tokensText(s.Tokens)},
		{"cost", costText(finite(s.Cost))},
		{"quota", o.quotasText(s.Quotas)},
		{"group", s.Group},
		{"parent", s.ParentID},
		{"forked from", s.ForkedFrom},
		{"stored in", o.shortDir(s.Path)},
		{"home", o.shortDir(s.Home)},
		{"evidence", evidenceText(s.Evidence)},
	}
	if !s.Live() {
		list = slices.DeleteFunc(list, func(d detail) bool { return d.key == "doing" })
	}
	for _, f := range s.Meta {
		if f.Name != "turnDetail" { // printed as "doing"
			list = append(list, detail{Sanitize(f.Name), metaText(f.Value)})
		}
	}
	return list
}

// statusWithCall is the status, followed by the tool call that a waiting session needs the user for.
func statusWithCall(s *Session) string {
	if on := WaitingOnText(s); on != "" {
		return statusText(s) + ": " + on
	}
	return statusText(s)
}

func (o TextOptions) processesText(s *Session) string {
	started := map[int]string{s.PID: s.ProcessStartedAt}
	for _, p := range s.Processes {
		started[p.PID] = p.StartedAt
	}
	var out []string
	for _, pid := range s.AllPIDs() {
		text := strconv.Itoa(pid)
		if since := o.timeAndAge(started[pid]); since != "" {
			text += ", since " + since
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func (o TextOptions) timeAndAge(timestamp string) string {
	t, ok := parseTimestamp(timestamp)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s (%s ago)", t.In(o.Now.Location()).Format(time.DateTime), Age(t, o.Now))
}

func tokensText(t *Tokens) string {
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

func (o TextOptions) quotasText(quotas []Quota) string {
	var out []string
	for _, q := range quotas {
		out = append(out, o.quotaText(q))
	}
	return strings.Join(out, "; ")
}

func costText(usd *float64) string {
	if usd == nil {
		return ""
	}
	return fmt.Sprintf("$%.4f", *usd)
}

func evidenceText(e *Evidence) string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%s %s: %s", e.Strength, e.Kind, e.Detail)
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
