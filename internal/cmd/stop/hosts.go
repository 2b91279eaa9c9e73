package stop

import (
	"context"
	"fmt"
	"io"
	"strings"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/launch/stop"
)

// runHosts has the agentctl of other machines stop sessions there, by its own check of their identity. Each result is printed as it comes; as JSON
// all of them at the end.
func runHosts(ctx context.Context, f cmdutil.Factory, args []string, o *options) error {
	c, err := f.NewCall("stop", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	calls, err := c.HostCalls(c.Config, args, nil, false)
	if err != nil {
		return err
	}
	ctx, end := cmdutil.Interruptible(ctx)
	defer end()
	results := []output.StopResult{}
	endProgress := c.ProgressOf(cmdutil.AskingHosts("stopping on", calls))
	failed := cmdutil.EachHost(ctx, f, calls, func(host string, r output.StopResult) error {
		r.Host = host
		if r.Session != nil {
			r.Session.Host = host
			if _, err := output.ParseSession(r.Session); err != nil {
				return cmdutil.BadAnswer(err)
			}
		}
		if o.JSON {
			results = append(results, r)
			return nil
		}
		defer c.Report.Pause()()
		return printObject(c.Stdout, r, o)
	})
	endProgress()
	if o.JSON {
		if err := output.JSONArray(c.Stdout, results); err != nil {
			return err
		}
	}
	return failed
}

// printObject prints the result of another machine.
func printObject(out io.Writer, r output.StopResult, o *options) error {
	if o.Quiet {
		return nil
	}
	var details []string
	tools := 0
	for _, s := range r.Signalled {
		if s.Role == string(stop.RoleAgent) {
			details = append(details, fmt.Sprintf("%s to pid %d", s.Signal, s.PID))
		} else {
			tools++
		}
	}
	if tools > 0 {
		details = append(details, fmt.Sprintf("%d signals to tools", tools))
	}
	if r.Message != "" {
		details = append(details, r.Message)
	}
	id := "-"
	if r.ID != nil {
		id = *r.ID
	}
	text := fmt.Sprintf("%s (%s)", outcomeText(stop.Outcome(r.Result)), strings.Join(details, "; "))
	_, err := fmt.Fprintf(out, "%s%s  %s\n", output.HostPrefix(r.Host), output.Sanitize(id), output.Sanitize(strings.TrimSuffix(text, " ()")))
	return err
}
