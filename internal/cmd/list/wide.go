package list

import (
	"bytes"
	"context"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// runWide lists with the resources of each session. Token counts are always read.
func runWide(ctx context.Context, c *cmdutil.Call, filter discover.SessionFilter, o *options) error {
	filter.Tokens, filter.Full = true, true
	working, done := c.StartWork(ctx, "reading the agents' stores")
	r, err := c.Scanner.List(working, filter)
	var resources []output.Resources
	var unanswered []*discover.Warning
	if err == nil {
		resources, unanswered = c.Resources(working, c.Scanner, r)
		err = working.Err()
	}
	done()
	if err != nil {
		return err
	}
	if o.JSON {
		objects := make([]output.Session, len(r.Sessions))
		for i, s := range r.Sessions {
			objects[i] = output.NewSessionWithResources(s, resources[i])
		}
		err = output.JSONArray(c.Stdout, objects)
	} else {
		err = printTable(ctx, c, len(r.Sessions), o, func(b *bytes.Buffer) error { return output.WideSessionTable(b, r.Sessions, resources, c.Style) })
	}
	if err != nil {
		return err
	}
	return c.ReportWarnings(append(r.Warnings, unanswered...))
}
