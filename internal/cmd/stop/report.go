package stop

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/launch/stop"
)

// printStops prints the results, in the order of the sessions.
func printStops(f cmdutil.Factory, results []stop.Result, o *options) error {
	switch {
	case o.Quiet:
		return nil
	case o.JSON:
		return output.JSONArrayFunc(f.Stdout, results, resultObject)
	}
	for _, r := range results {
		what := fmt.Sprintf("%s (%s)", outcomeText(r.Outcome), strings.Join(details(r), "; "))
		if _, err := fmt.Fprintf(f.Stdout, "%s  %s\n", output.Sanitize(cmdutil.SessionName(r.Before)), output.Sanitize(strings.TrimSuffix(what, " ()"))); err != nil {
			return err
		}
	}
	return nil
}

func resultObject(r stop.Result) output.StopResult {
	out := output.StopResult{
		ID: output.NewSession(r.Before).ID, Adapter: string(r.Before.Agent), Result: string(r.Outcome), Message: r.Message, Request: string(r.Request),
		Signalled: []output.Signal{}, Survived: []int{},
	}
	if r.After != nil {
		after := output.NewSession(*r.After)
		out.Session = &after
	}
	for _, s := range r.Signalled {
		out.Signalled = append(out.Signalled, output.Signal{PID: s.Process.PID, Signal: unix.SignalName(s.Signal), Role: string(s.Role)})
	}
	for _, p := range r.Survived {
		out.Survived = append(out.Survived, p.PID)
	}
	for _, p := range r.LeftBehind {
		out.LeftBehind = append(out.LeftBehind, p.PID)
	}
	return out
}

func outcomeText(o stop.Outcome) string {
	switch o {
	case stop.AlreadyStopped:
		return "already stopped"
	case stop.Running:
		return "still running"
	case stop.Planned:
		return "would be stopped"
	case stop.Refused:
		return "refused"
	case stop.Stopped, stop.Released, stop.Failed:
	}
	return string(o)
}

// requestText describes a request that the agent has not accepted, if the message does not.
func requestText(r stop.Result) string {
	switch {
	case r.Request == stop.RequestUnanswered && r.Outcome != stop.Running:
		return "the agent did not answer the request to end it"
	case r.Request == stop.RequestFailed && r.Outcome != stop.Refused && r.Outcome != stop.Failed:
		return "the agent did not accept the request to end it"
	}
	return ""
}

// details describe the status before, a request in vain, the signals, and the message of a result.
func details(r stop.Result) []string {
	var out []string
	switch {
	case (r.Outcome == stop.Planned || r.Outcome == stop.Refused) && r.Before.Status != discover.Stopped:
		out = append(out, string(r.Before.Status))
	case r.Before.Status != discover.Stopped:
		out = append(out, "was "+string(r.Before.Status))
	}
	if text := requestText(r); text != "" {
		out = append(out, text)
	}
	ended := map[int]bool{}
	for _, s := range r.Signalled {
		switch {
		case s.Role != stop.RoleTool:
			out = append(out, fmt.Sprintf("%s to %s", unix.SignalName(s.Signal), s.Process))
		case !slices.Contains(r.Survived, s.Process):
			ended[s.Process.PID] = true
		}
	}
	switch len(ended) {
	case 0:
	case 1:
		out = append(out, "1 tool ended")
	default:
		out = append(out, fmt.Sprintf("%d tools ended", len(ended)))
	}
	var left []string
	for _, p := range r.LeftBehind {
		if ended[p.PID] {
			left = append(left, p.String())
		}
	}
	if len(left) > 0 {
		out = append(out, fmt.Sprintf("left behind before the session was resumed: %s", strings.Join(left, ", ")))
	}
	if r.Message != "" {
		out = append(out, r.Message)
	}
	return out
}
