package rm

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/stored"
)

// printResults prints the results, in the order of the sessions.
func printResults(f cmdutil.Factory, results []stored.Result, o *options) error {
	switch {
	case o.Quiet:
		return nil
	case o.JSON:
		return output.JSONArrayFunc(f.Stdout, results, func(r stored.Result) output.StoredResult { return resultObject(r, o.action) })
	}
	for _, r := range results {
		if _, err := fmt.Fprintf(f.Stdout, "%s  %s\n", output.Sanitize(cmdutil.SessionName(r.Before)), output.Sanitize(resultText(r, o.action))); err != nil {
			return err
		}
	}
	return nil
}

func resultObject(r stored.Result, action launch.StoreAction) output.StoredResult {
	out := output.StoredResult{
		ID: output.NewSession(r.Before).ID, Adapter: string(r.Before.Agent), Action: string(action), Result: string(r.Outcome), Command: r.Command,
	}
	if r.Err != nil {
		out.Message = r.Err.Error()
	}
	if r.After != nil {
		after := output.NewSession(*r.After)
		out.Session = &after
	}
	return out
}

// resultText describes a result on one line.
func resultText(r stored.Result, action launch.StoreAction) string {
	done := map[launch.StoreAction]string{launch.ActionRemove: "removed", launch.ActionArchive: "archived", launch.ActionUnarchive: "brought back"}[action]
	switch r.Outcome {
	case stored.Done:
		return done
	case stored.Planned:
		return fmt.Sprintf("would be %s by %s", done, commandText(r.Command))
	case stored.Unneeded:
		if action == launch.ActionArchive {
			return "archived already"
		}
		return "not archived"
	case stored.Refused, stored.Unsupported, stored.Failed:
	}
	return fmt.Sprintf("%s (%v)", r.Outcome, r.Err)
}

// commandText is a command as people write it.
func commandText(args []string) string {
	return strings.Join(append([]string{filepath.Base(args[0])}, args[1:]...), " ")
}

// resultError returns the error of the results: a failure if one failed, else a conflict if one was refused, else that an agent
// has no command for it.
func resultError(results []stored.Result) error {
	texts := map[stored.Outcome][]string{}
	var unsupported error
	for _, r := range results {
		if r.Err != nil {
			texts[r.Outcome] = append(texts[r.Outcome], fmt.Sprintf("%s: %v", cmdutil.DescribeSession(r.Before), r.Err))
		}
		if r.Outcome == stored.Unsupported {
			unsupported = cmp.Or(unsupported, r.Err)
		}
	}
	switch {
	case len(texts[stored.Failed]) > 0:
		return errors.New(strings.Join(texts[stored.Failed], "; "))
	case len(texts[stored.Refused]) > 0:
		return cmdutil.ConflictError(strings.Join(texts[stored.Refused], "; "), "agentctl stop ends live sessions")
	}
	return unsupported
}
