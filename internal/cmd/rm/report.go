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
func printResults(c *cmdutil.Call, results []output.StoredResult) error {
	switch {
	case c.Quiet:
		return nil
	case c.JSON:
		return output.JSONArray(c.Stdout, results)
	}
	for _, r := range results {
		name := "-"
		if r.ID != nil {
			name = *r.ID
		}
		if _, err := fmt.Fprintf(c.Stdout, "%s%s  %s\n", output.HostPrefix(r.Host), output.Sanitize(name), output.Sanitize(resultText(&r))); err != nil {
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
	now := r.After
	if r.Outcome == stored.Planned {
		now = &r.Before
	}
	if now != nil {
		session := output.NewSession(*now)
		out.Session = &session
	}
	return out
}

func resultText(r *output.StoredResult) string {
	action := launch.StoreAction(r.Action)
	done := wordsOf(action).done
	switch outcome := stored.Outcome(r.Result); outcome {
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
	return fmt.Sprintf("%s (%s)", r.Result, r.Message)
}

func commandText(args []string) string {
	if len(args) == 0 { // of another machine
		return "its agent"
	}
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
