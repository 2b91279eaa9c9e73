package output

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// Details writes all that is known of one session for people: one aligned line a fact, its processes, its orphans, and with explain every
// piece of evidence that was considered.
func Details(w io.Writer, s discover.Session, m Resources, explain bool, look TextOptions) error {
	out := bufio.NewWriter(w)
	facts := look.details(s, m)
	width := 0
	for _, f := range facts {
		width = max(width, len(f.key))
	}
	for _, f := range facts {
		text := Sanitize(f.value)
		if f.key == "status" && look.Color {
			text = "\x1b[" + colorOf(&s) + "m" + text + "\x1b[0m"
		}
		if text != "" {
			fmt.Fprintf(out, "%-*s  %s\n", width, f.key, text)
		}
	}
	if len(m.Processes) > 0 {
		out.WriteByte('\n')
		g := processGrid(m.Processes, look)
		g.write(out, look.Width)
	}
	if len(m.Orphans) > 0 {
		out.WriteString("\norphans, which the session left behind:\n")
		g := processGrid(m.Orphans, look)
		g.write(out, look.Width)
	}
	if explain {
		Explain(s).write(out)
	}
	return out.Flush()
}

type detail struct{ key, value string }

// details are in the order a person asks for them; those without a value are not shown.
func (l TextOptions) details(s discover.Session, m Resources) []detail {
	facts := []detail{
		{"id", cmp.Or(s.ID, "- (no evidence names the session of this process)")},
		{"agent", strings.TrimSpace(string(s.Agent) + " " + Sanitize(s.Version))},
		{"status", statusWithCall(&s)},
		{"error", s.Error},
		{"doing", s.Turn.Detail},
		{"title", s.Title},
		{"prompt", s.Prompt},
		{"dir", l.shortDir(s.Dir)},
		{"branch", s.Branch},
		{"changes", m.changesText()},
		{"model", s.Model},
		{"source", s.Source},
		{"pid", l.processesText(s)},
		{"started", l.timeAndAge(s.Created)},
		{"active", l.timeAndAge(s.Updated)},
		{"tokens", tokensText(s.Tokens)},
		{"cost", costText(NewSession(s).Cost)},
		{"quota", l.quotasText(s.Quotas)},
		{"group", s.Group},
		{"parent", s.Parent},
		{"forked from", s.ForkedFrom},
		{"stored in", l.shortDir(s.Path)},
		{"home", l.shortDir(s.Home)},
		{"evidence", evidenceText(s)},
	}
	if !s.Status.Live() {
		facts = slices.DeleteFunc(facts, func(f detail) bool { return f.key == "doing" })
	}
	for _, f := range newMeta(&s) {
		if f.Name != "turnDetail" { // shown as doing
			facts = append(facts, detail{Sanitize(f.Name), metaText(f.Value)})
		}
	}
	return facts
}

// statusWithCall is the status, and the call that a waiting session needs the person for.
func statusWithCall(s *discover.Session) string {
	if on := WaitingOnText(s.WaitingOn); on != "" {
		return statusText(s) + ": " + on
	}
	return statusText(s)
}

func (l TextOptions) processesText(s discover.Session) string {
	var out []string
	for _, p := range s.Processes {
		text := fmt.Sprint(p.ID.PID)
		if !p.Started.IsZero() {
			text += ", since " + l.timeAndAge(p.Started)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

func (l TextOptions) timeAndAge(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%s (%s ago)", t.In(l.Now.Location()).Format(time.DateTime), Age(t, l.Now))
}

func tokensText(t *discover.Tokens) string {
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

func (l TextOptions) quotasText(quotas []discover.Quota) string {
	var out []string
	for _, q := range quotas {
		out = append(out, l.quotaText(q))
	}
	return strings.Join(out, "; ")
}

func costText(usd *float64) string {
	if usd == nil {
		return ""
	}
	return fmt.Sprintf("$%.4f", *usd)
}

func evidenceText(s discover.Session) string {
	e := newEvidence(&s)
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
