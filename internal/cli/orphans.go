package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/launch/stop"
)

// only checks that beside a flag that stands for another question no flags are set but those named.
func only(c *cli.Context, flag string, beside ...string) error {
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; name != flag && c.IsSet(name) && !slices.Contains(beside, name) && name != "home" && name != "all-users" {
			return badUsage(verbOf(c.Command), "%s and %s cannot be used together", dashed(flag), dashed(name))
		}
	}
	return nil
}

// listOrphans is list --orphans.
func (env Env) listOrphans(ctx context.Context, o *listOptions) error {
	if o.json && o.quiet {
		return badUsage("list", "--json and --quiet cannot be used together")
	}
	c, err := env.call("list", &o.common, nil)
	if err != nil {
		return err
	}
	working, done := env.query(ctx, "reading the processes")
	found, r, err := stop.FindOrphans(working, c.world, env.PID, c.agents)
	done()
	if err != nil {
		return err
	}
	switch {
	case o.json:
		err = output.JSONArray(env.Stdout, orphanObjects(found))
	case o.quiet:
		err = printEach(found, func(f stop.Orphan) error {
			_, err := fmt.Fprintln(env.Stdout, f.ID.PID)
			return err
		})
	case len(found) > 0:
		err = output.OrphanTable(env.Stdout, orphanObjects(found), c.look)
	case env.Width > 0:
		env.report.note("no orphaned processes found")
	}
	if err != nil {
		return err
	}
	return env.warn(r.Warnings)
}

// addOrphans adds to machines what the stopped sessions of r have left behind, by the rule of list --orphans. The
// environments of all processes are read for it: only where a session is stopped. The scan reads other sessions, too: of
// its warnings there are those of the process table only.
func (env Env) addOrphans(ctx context.Context, world *discover.Scanner, r discover.Result, machines []output.Resources) []*discover.Warning {
	// The environments alone are cheap to ask, and as a rule say that there are none.
	known := r.Table != nil && !r.Table.Hidden()
	if !slices.ContainsFunc(r.Sessions, func(s discover.Session) bool {
		return s.Status == discover.Stopped && (!known || world.HasMarkedProcess(r.Table, s))
	}) {
		return nil
	}
	found, scan, err := stop.FindOrphans(ctx, world, env.PID, nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil // the caller's own error
		}
		return []*discover.Warning{{Path: "processes", Err: fmt.Errorf("orphans are not known: %w", err)}}
	}
	for i, s := range r.Sessions {
		for _, f := range found {
			if s.Status == discover.Stopped && f.Session.Key() == s.Key() {
				machines[i].Orphans = append(machines[i].Orphans, processes([]discover.ProcessNode{{Process: f.Process}})...)
			}
		}
	}
	return slices.DeleteFunc(scan.Warnings, func(w *discover.Warning) bool { return w.Agent != "" })
}

// stopOrphans is stop --orphans.
func (env Env) stopOrphans(ctx context.Context, o *stopOptions) error {
	c, err := env.call("stop", &o.common, nil)
	if err != nil {
		return err
	}
	ctx, end := interruptible(ctx)
	defer end()
	if !o.yes && !o.dryRun {
		found, _, err := stop.FindOrphans(ctx, c.world, env.PID, c.agents)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			err = env.confirmed(ctx, "end these?", func(w io.Writer) error { return output.OrphanTable(w, orphanObjects(found), c.look) })
		}
		if err != nil {
			return err
		}
	}
	return c.endAll(ctx, o, func() (results []stop.Result, partial, err error) {
		results, r, err := stop.EndOrphans(ctx, c.world, o.how(env), c.agents)
		return results, env.warn(r.Warnings), err
	})
}

// orphanObjects are those that are there still.
func orphanObjects(found []stop.Orphan) []output.Orphan {
	objects := make([]output.Orphan, 0, len(found))
	for _, f := range found {
		for _, p := range processes([]discover.ProcessNode{{Process: f.Process}}) {
			o := output.Orphan{Process: p}
			o.Adapter = string(f.Session.Agent)
			if f.Session.ID != "" {
				o.SessionID = &f.Session.ID
			}
			objects = append(objects, o)
		}
	}
	return objects
}
