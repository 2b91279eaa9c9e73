package doctor

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/internal/output"
)

// write prints the findings as text. wanted is the path where a configuration file would be.
func (f findings) write(w io.Writer, wanted string, style output.TextOptions) error {
	out := bufio.NewWriter(w)
	line := func(key, text string) { fmt.Fprintf(out, "  %-8s  %s\n", key, output.Sanitize(text)) }
	for _, a := range f.Agents {
		fmt.Fprintln(out, a.Adapter)
		for _, b := range a.Binaries {
			line("program", b.text())
		}
		if len(a.Binaries) == 0 {
			line("program", "none in PATH")
		}
		if a.NewestTried != "" {
			line("tried", "up to version "+a.NewestTried)
		}
		for _, h := range a.Homes {
			line("home", h.text(style))
		}
	}
	fmt.Fprintln(out, "processes")
	line("seen", f.Processes.text())
	if c := f.Processes.CrossCheck; c != nil {
		line("go-ps", fmt.Sprintf("%d compared, %s", c.Compared, plural(len(c.Differences), "difference")))
		for _, d := range c.Differences {
			line("", fmt.Sprintf("pid %d (%s): %s", d.PID, d.Name, d.Text))
		}
	}
	fmt.Fprintln(out, "configuration")
	if f.Config.File == "" {
		line("file", "none (looked for "+wanted+")")
	} else {
		line("file", f.Config.File)
	}
	line("since", string(f.Config.Since))
	line("color", string(f.Config.Color))
	line("strict", fmt.Sprint(f.Config.Strict))
	for _, name := range slices.Sorted(maps.Keys(f.Config.Hosts)) {
		line("hosts", name+": "+f.Config.Hosts[name])
	}
	for _, agent := range slices.Sorted(maps.Keys(f.Config.Homes)) {
		line("homes", agent+": "+strings.Join(f.Config.Homes[agent], ", "))
	}
	return out.Flush()
}

func (b binary) text() string {
	text := b.Path
	if b.RealPath != "" {
		text += " -> " + b.RealPath
	}
	if b.Version != "" {
		text += ", version " + b.Version
	}
	return text
}

func (h homeFindings) text(style output.TextOptions) string {
	if !h.Exists {
		return h.Path + ": does not exist"
	}
	parts := []string{plural(h.Sessions, "session")}
	if h.Children > 0 {
		parts = append(parts, plural(h.Children, "sub-agent"))
	}
	if h.Sessions+h.Children > 0 {
		parts = append(parts, output.ByteSize(h.Bytes)+" of "+strings.Join(h.Formats, ", "))
	}
	if !h.newest.IsZero() {
		parts = append(parts, "newest "+output.Age(h.newest, style.Now)+" ago")
	}
	parts = append(parts, fmt.Sprintf("%d live", h.Live))
	if h.Trust != discover.TrustOurs.String() {
		who := "another user's, or in another namespace"
		if h.SeenIn > 0 {
			who = fmt.Sprintf("named by pid %d only", h.SeenIn)
		}
		parts = append(parts, who+"; shown, not acted on")
	}
	return h.Path + ": " + strings.Join(parts, ", ")
}

func (p processFindings) text() string {
	text := fmt.Sprintf("%d, of which %d run sessions", p.Seen, p.Agents)
	if p.Unreadable > 0 {
		text += fmt.Sprintf("; %d cannot be read", p.Unreadable)
	}
	if p.Hidden {
		text += "; those of other users are hidden by the system"
	}
	return text
}
