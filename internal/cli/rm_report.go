package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
)

// printResults prints the results, in the order of the sessions.
func printResults(c *Call, results []object.StoredResult) error {
	switch {
	case c.Quiet:
		return nil
	case c.JSON:
		return render.JSONArray(c.Stdout, results)
	}
	for _, r := range results {
		name := "-"
		if r.ID != nil {
			name = *r.ID
		}
		if _, err := fmt.Fprintf(c.Stdout, "%s%s  %s\n", object.HostPrefix(r.Host), render.Sanitize(name), render.Sanitize(resultText(&r))); err != nil {
			return err
		}
	}
	return nil
}

func rmResultObject(r launch.StoreResult, action launch.StoreAction) object.StoredResult {
	out := object.StoredResult{
		ID: object.NewSession(r.Before).ID, Adapter: string(r.Before.Agent), Action: string(action), Result: string(r.Outcome), Command: r.Command,
	}
	if r.Err != nil {
		out.Message = r.Err.Error()
	}
	now := r.After
	if r.Outcome == launch.StorePlanned {
		now = &r.Before
	}
	if now != nil {
		session := object.NewSession(*now)
		out.Session = &session
	}
	return out
}

func resultText(r *object.StoredResult) string {
	action := launch.StoreAction(r.Action)
	done := wordsOf(action).done
	switch outcome := launch.StoreOutcome(r.Result); outcome {
	case launch.StoreDone:
		return done
	case launch.StorePlanned:
		return fmt.Sprintf("would be %s by %s", done, commandText(r.Command))
	case launch.StoreUnneeded:
		if action == launch.ActionArchive {
			return "archived already"
		}
		return "not archived"
	case launch.StoreRefused, launch.StoreUnsupported, launch.StoreFailed:
	}
	return fmt.Sprintf("%s (%s)", r.Result, r.Message)
}

func commandText(args []string) string {
	if len(args) == 0 { // of another machine
		return "its agent"
	}
	return strings.Join(append([]string{filepath.Base(args[0])}, args[1:]...), " ")
}

// rmResultError returns the error of the results: a failure if one failed, else a conflict if one was refused, else that an agent
// has no command for it.
func rmResultError(results []launch.StoreResult) error {
	texts := map[launch.StoreOutcome][]string{}
	var unsupported error
	for _, r := range results {
		if r.Err != nil {
			texts[r.Outcome] = append(texts[r.Outcome], fmt.Sprintf("%s: %v", DescribeSession(r.Before), r.Err))
		}
		if r.Outcome == launch.StoreUnsupported {
			unsupported = cmp.Or(unsupported, r.Err)
		}
	}
	switch {
	case len(texts[launch.StoreFailed]) > 0:
		return errors.New(strings.Join(texts[launch.StoreFailed], "; "))
	case len(texts[launch.StoreRefused]) > 0:
		return ConflictError(strings.Join(texts[launch.StoreRefused], "; "), "agentctl stop ends live sessions")
	}
	return unsupported
}
