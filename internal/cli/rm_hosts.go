package cli

import (
	"context"
	"slices"
	"sort"

	"agentctl/internal/object"
	"agentctl/launch"
)

// rmRunHosts acts on sessions of other machines, by the checks there. It first has each say what it would do, which is what the user is asked about: if an
// argument means no session, nothing is done anywhere. What a selection then acts on is what was shown.
func rmRunHosts(ctx context.Context, c *Call, args []string, o *rmOptions) error {
	calls, err := c.HostCalls(c.Config, args, nil, false)
	if err != nil {
		return err
	}
	ctx, end := Interruptible(ctx)
	defer end()
	for i := range calls {
		calls[i] = calls[i].Without("yes", "dry-run")
	}
	planned, failed := askHosts(ctx, c, "looking for the sessions on", with(calls, "--dry-run"))
	if o.dryRun || !mayGoOn(failed, planned, calls, len(args) > 0) {
		return conclude(c, planned, failed, o)
	}
	chosen := plannedSessions(planned)
	if len(chosen) == 0 {
		return conclude(c, planned, failed, o)
	}
	if !o.yes {
		if err := confirm(ctx, c, chosen, o); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		calls = slices.DeleteFunc(calls, func(call HostCall) bool { return !answered(planned, call) })
	} else {
		calls = rmOnly(calls, chosen)
	}
	results, acted := askHosts(ctx, c, "running the agents' commands on", with(calls, "--yes"))
	if acted == nil && ExitCode(failed) == ExitPartial { // a host has not answered before
		acted = failed
	}
	return conclude(c, results, acted, o)
}

func with(calls []HostCall, flag string) []HostCall {
	out := make([]HostCall, len(calls))
	for i, call := range calls {
		out[i] = call.With(flag)
	}
	return out
}

// rmOnly returns the calls for these sessions, instead of for what the flags select.
func rmOnly(calls []HostCall, sessions []object.Session) (out []HostCall) {
	for _, call := range calls {
		var ids []string
		for _, s := range sessions {
			if s.Host == call.Target.Name && s.ID != nil {
				ids = append(ids, *s.ID)
			}
		}
		if len(ids) > 0 {
			call = call.Without("older-than", "cwd", "repo", "group")
			call.Args = append(call.Args, ids...)
			out = append(out, call)
		}
	}
	return out
}

// askHosts returns what each host has done or would do, in the order of the hosts.
func askHosts(ctx context.Context, c *Call, what string, calls []HostCall) ([]object.StoredResult, error) {
	defer c.ProgressOf(AskingHosts(what, calls))()
	results := []object.StoredResult{}
	failed := EachHost(ctx, c.Factory, calls, func(r object.StoredResult) error {
		results = append(results, r)
		return nil
	})
	sort.SliceStable(results, func(i, j int) bool { return CompareHosts(calls, results[i].Host, results[j].Host) < 0 })
	return results, failed
}

// mayGoOn reports whether each host has found what it was asked for: what it refuses, or an agent cannot do, is left as it is.
func mayGoOn(failed error, planned []object.StoredResult, calls []HostCall, named bool) bool {
	switch ExitCode(failed) {
	case ExitOK, ExitPartial:
		return true
	case ExitConflict, ExitUnable:
		return !named || !slices.ContainsFunc(calls, func(call HostCall) bool { return !answered(planned, call) })
	}
	return false
}

func answered(results []object.StoredResult, call HostCall) bool {
	return slices.ContainsFunc(results, func(r object.StoredResult) bool { return r.Host == call.Target.Name })
}

// plannedSessions returns the sessions that something would be done to.
func plannedSessions(planned []object.StoredResult) (list []object.Session) {
	for _, r := range planned {
		if r.Session != nil && r.Result == string(launch.StorePlanned) {
			list = append(list, *r.Session)
		}
	}
	return list
}

func conclude(c *Call, results []object.StoredResult, failed error, o *rmOptions) error {
	if len(results) == 0 && failed == nil && !o.Quiet && !o.JSON {
		c.Report.Note("no stopped session matches")
	}
	if code := ExitCode(failed); len(results) > 0 || o.JSON && (code == ExitOK || code == ExitPartial) {
		if err := printResults(c, results); err != nil {
			return err
		}
	}
	return failed
}
