package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch/stop"
)

// stopPrinter prints the results, or keeps them for the array of --json.
type stopPrinter struct {
	*Call
	results []object.StopResult
}

func (p *stopPrinter) print(r object.StopResult) error {
	switch {
	case p.JSON:
		p.results = append(p.results, r)
		return nil
	case p.Quiet:
		return nil
	}
	defer p.Report.Pause()()
	text := fmt.Sprintf("%s (%s)", outcomeText(stop.Outcome(r.Result)), strings.Join(details(&r), "; "))
	_, err := fmt.Fprintf(p.Stdout, "%s  %s\n", render.Sanitize(name(&r)), render.Sanitize(strings.TrimSuffix(text, " ()")))
	return err
}

// name is the session's, by its ID or a process.
func name(r *object.StopResult) string {
	switch {
	case r.ID != nil:
		return object.HostPrefix(r.Host) + *r.ID
	case r.PID != 0:
		return object.HostPrefix(r.Host) + "pid:" + strconv.Itoa(r.PID)
	}
	return object.HostPrefix(r.Host) + "-"
}

func stopResultObject(r stop.Result) object.StopResult {
	before := object.NewSession(r.Before)
	out := object.StopResult{
		ID: before.ID, PID: before.PID, Adapter: before.Adapter, StatusBefore: before.Status, Result: string(r.Outcome), Message: r.Message, Request: string(r.Request),
		Signalled: []object.Signal{}, Survived: []int{},
	}
	if r.After != nil {
		after := object.NewSession(*r.After)
		out.Session = &after
	}
	for _, s := range r.Signalled {
		out.Signalled = append(out.Signalled, object.Signal{PID: s.Process.PID, Signal: unix.SignalName(s.Signal), Role: string(s.Role)})
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
func requestText(r *object.StopResult) string {
	outcome := stop.Outcome(r.Result)
	switch request := stop.Request(r.Request); {
	case request == stop.RequestUnanswered && outcome != stop.Running:
		return "the agent did not answer the request to end it"
	case request == stop.RequestFailed && outcome != stop.Refused && outcome != stop.Failed:
		return "the agent did not accept the request to end it"
	}
	return ""
}

// details describe the status before, a request in vain, the signals, and the message of a result.
func details(r *object.StopResult) []string {
	var out []string
	switch outcome := stop.Outcome(r.Result); {
	case r.StatusBefore == "" || r.StatusBefore == string(discover.Stopped):
	case outcome == stop.Planned, outcome == stop.Refused:
		out = append(out, r.StatusBefore)
	default:
		out = append(out, "was "+r.StatusBefore)
	}
	if text := requestText(r); text != "" {
		out = append(out, text)
	}
	ended := map[int]bool{}
	for _, s := range r.Signalled {
		switch {
		case s.Role != string(stop.RoleTool):
			out = append(out, fmt.Sprintf("%s to pid %d", s.Signal, s.PID))
		case !slices.Contains(r.Survived, s.PID):
			ended[s.PID] = true
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
	for _, pid := range r.LeftBehind {
		if ended[pid] {
			left = append(left, fmt.Sprintf("pid %d", pid))
		}
	}
	if len(left) > 0 {
		out = append(out, "left behind before the session was resumed: "+strings.Join(left, ", "))
	}
	if r.Message != "" {
		out = append(out, r.Message)
	}
	return out
}
