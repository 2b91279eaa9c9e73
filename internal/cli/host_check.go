package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/internal/render"
)

func newCheck(f Factory) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Name:               "check",
		Usage:              "show whether hosts can be asked, and which agents they have",
		UsageText:          "agentctl host check [FLAGS] [HOST…]",
		Description:        "Without HOST it checks all hosts of the configuration. Exit 6: one of them cannot be asked.",
		ArgsUsage:          "[HOST…]",
		Flags:              []cli.Flag{JSONFlag(&o.JSON), NoColorFlag(&o.NoColor)},
		CustomHelpTemplate: HelpTemplate("agentctl host check devbox", "agentctl host check --json"),
		Action:             func(c *cli.Context) error { return runCheck(c.Context, f, c.Args().Slice(), o) },
	}
}

func runCheck(ctx context.Context, f Factory, names []string, o *CommonFlags) error {
	c, err := f.NewCall("host check", o, nil)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		for name := range c.Config.Hosts {
			names = append(names, name)
		}
		slices.Sort(names)
	}
	if len(names) == 0 {
		return UsageError("host check", "which host? the configuration has no [hosts]")
	}
	var targets []remote.Target
	for _, name := range names {
		t, err := f.Target(c.Config, name)
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	working, done := c.StartWork(ctx, fmt.Sprintf("checking %d hosts", len(targets)))
	rows := make([]object.HostCheck, len(targets))
	failures := make([]error, len(targets))
	var checks sync.WaitGroup
	for i, t := range targets {
		checks.Go(func() { rows[i], failures[i] = check(working, f, t) })
	}
	checks.Wait()
	err = working.Err()
	done()
	if err != nil {
		return err
	}
	if err := PrintRows(c, rows, render.HostTable); err != nil {
		return err
	}
	for i, failed := range failures {
		if failed != nil {
			f.WarnOfHost(targets[i], failed)
			err = ErrPartial
		}
	}
	return err
}

// maxDoctor bounds the answer of doctor, in bytes.
const maxDoctor = 4 << 20

func check(ctx context.Context, f Factory, t remote.Target) (object.HostCheck, error) {
	row := object.HostCheck{Host: t.Name, Destination: t.Destination, Agents: []object.HostAgent{}}
	answer, text, err := f.AskHost(ctx, t, maxDoctor, "doctor", "--json")
	h := answer.Hello
	row.Version, row.Schema, row.OS, row.Arch = h.Version, h.Schema, h.OS, h.Arch
	if err != nil {
		row.Problem = ErrorText(err)
		return row, err
	}
	var found struct {
		Agents []struct {
			Adapter  string `json:"adapter"`
			Binaries []struct {
				Version string `json:"version"`
			} `json:"binaries"`
		} `json:"agents"`
	}
	if json.Unmarshal(text, &found) != nil && answer.Code == ExitOK {
		row.Problem = "what its agentctl says of the agents is not understood"
	}
	for _, a := range found.Agents {
		if len(a.Binaries) > 0 {
			row.Agents = append(row.Agents, object.HostAgent{Adapter: strings.TrimSpace(a.Adapter), Version: a.Binaries[0].Version})
		}
	}
	return row, nil
}
