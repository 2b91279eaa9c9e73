package search

import (
	"context"
	"errors"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// errEnough ends a search that has found as much as it may print.
var errEnough = errors.New("enough was found")

// runHosts searches the sessions of several machines, and prints what each has found as it comes.
func runHosts(ctx context.Context, c *cmdutil.Call, pattern string, o *options) error {
	here := *o
	here.scope = cmdutil.Scope{} // directories are the host's
	if _, err := query(c, pattern, &here); err != nil {
		return err
	}
	calls, err := c.HostCalls(c.Config, nil, []string{pattern}, false)
	if err != nil {
		return err
	}
	s := searcher{Call: c, options: o, endProgress: func() {}} // the other hosts are still searched
	working, done := cmdutil.Interruptible(ctx)
	defer done()
	defer c.ProgressOf(cmdutil.AskingHosts("searching", calls))()
	err = cmdutil.EachHost(working, c.Factory, calls, func(host string, object output.Session) error {
		object.Host = host
		found, err := output.ParseFound(&object)
		if err != nil || len(found.Matches) == 0 {
			return cmdutil.BadAnswer(err)
		}
		defer c.Report.Pause()()
		s.object = &object
		if !s.visit(found) {
			if s.err != nil {
				return s.err
			}
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
