package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/render"
	"agentctl/proc"
)

func doctorCommand(f Env) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Usage:              "show what agentctl finds on this machine: programs, stores, processes, configuration",
		UsageText:          "agentctl doctor [FLAGS]",
		Flags:              []cli.Flag{JSONFlag(&o.JSON), NoColorFlag(&o.NoColor)},
		CustomHelpTemplate: HelpTemplate("agentctl doctor", "agentctl doctor --json"),
		Action:             func(c *cli.Context) error { return runDoctor(c.Context, f, o) },
	}
}

// findings is what doctor prints; its field names are the JSON contract.
type findings struct {
	Agents    []agentFindings `json:"agents"`
	Processes processFindings `json:"processes"`
	Config    config.Config   `json:"config"`
	Warnings  []string        `json:"warnings"`
}

type processFindings struct {
	Seen int `json:"seen"`
	// Agents counts processes that run sessions, Unreadable those whose sessions cannot be read.
	Agents     int `json:"agents"`
	Unreadable int `json:"unreadable"`
	// Hidden: the system shows this user's processes only.
	Hidden bool `json:"hidden"`
	// CrossCheck is absent if there was no process table to compare, or go-ps could not read it.
	CrossCheck *crossCheck `json:"crossCheck,omitempty"`
}

// crossCheck is the comparison of the process table with the one that go-ps reads.
type crossCheck struct {
	Compared    int               `json:"compared"`
	Differences []proc.Difference `json:"differences"`
}

func runDoctor(ctx context.Context, f Env, o *CommonFlags) error {
	var broken error // the configuration file is one of the things to be examined
	f.ConfigFailed = func(err error) { broken = err }
	c, err := f.NewCall("doctor", o, nil)
	if err != nil {
		return err
	}
	working, done := f.StartWork(ctx, "examining the agents' stores")
	found, err := examine(working, c)
	done()
	if found.warn(broken); broken != nil {
		found.Config.File = config.Path(f.Getenv)
	}
	if err != nil {
		return err
	}
	if o.JSON {
		err = render.JSON(f.Stdout, found)
	} else {
		err = found.write(f.Stdout, config.Path(f.Getenv), c.Style)
	}
	if err != nil {
		return err
	}
	for _, w := range found.Warnings {
		f.Warn(w)
	}
	for _, a := range found.Agents {
		if w := a.warning(a.Adapter); w != "" {
			f.Warn(w)
		}
	}
	if len(found.Warnings) > 0 {
		return ErrPartial
	}
	return nil
}

// examine reads what there is of every agent.
func examine(ctx context.Context, c *Call) (findings, error) {
	f := findings{Config: c.Config, Agents: []agentFindings{}, Warnings: []string{}}
	live, err := c.Scanner.List(ctx, discover.SessionFilter{Subagents: true})
	if err != nil {
		return f, err
	}
	f.Processes = processesOf(live)
	if !live.ProcessesUnknown {
		compared, differences, err := c.CrossCheck(live.Table)
		if f.warn(err); err == nil {
			f.Processes.CrossCheck = &crossCheck{compared, append([]proc.Difference{}, differences...)}
		}
	}
	for _, w := range live.Warnings {
		f.warn(w)
	}
	for _, a := range c.Adapters {
		f.Agents = append(f.Agents, examineAgent(ctx, c, a, live, f.warn))
	}
	return f, ctx.Err()
}

// warn stores each of the joined errors once.
func (f *findings) warn(err error) {
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			f.warn(e)
		}
		return
	}
	if text := err.Error(); !slices.Contains(f.Warnings, text) {
		f.Warnings = append(f.Warnings, text)
	}
}

func processesOf(live discover.Result) processFindings {
	p := processFindings{Seen: live.Table.Len(), Hidden: live.Table.Hidden()}
	running, unreadable := map[int]bool{}, map[int]bool{}
	for _, s := range live.Sessions {
		for _, process := range s.Processes {
			running[process.ID.PID] = true
		}
		for _, e := range s.Evidence {
			if e.Unreadable != "" {
				unreadable[e.Process.PID] = true
			}
		}
	}
	p.Agents, p.Unreadable = len(running), len(unreadable)
	return p
}

// write prints the findings as text. wanted is the path where a configuration file would be.
func (f findings) write(w io.Writer, wanted string, style render.TextOptions) error {
	out := bufio.NewWriter(w)
	line := func(key, text string) { fmt.Fprintf(out, "  %-8s  %s\n", key, render.Sanitize(text)) }
	for _, a := range f.Agents {
		fmt.Fprintln(out, a.Adapter)
		for _, b := range a.Binaries {
			line("program", b.text())
		}
		if len(a.Binaries) == 0 {
			line("program", "none in PATH")
		}
		if a.NewestTried != "" {
			line("tested", "up to version "+a.NewestTried)
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

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
