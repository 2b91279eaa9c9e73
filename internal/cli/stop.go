package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/launch/stop"
)

// StopTimeout is how long an agent may take to end: several times what the slowest takes with a tool running.
const StopTimeout = 10 * time.Second

// StopError returns the error of the results: a failure if a session still runs, else a conflict if one was refused.
func StopError(results []stop.Result) error {
	var failed, refused []string
	for _, r := range results {
		switch r.Outcome {
		case stop.Running:
			failed = append(failed, fmt.Sprintf("%s is still running: %s", DescribeSession(r.Before), r.Message))
		case stop.Failed:
			failed = append(failed, fmt.Sprintf("%s: %s", DescribeSession(r.Before), r.Message))
		case stop.Refused:
			refused = append(refused, fmt.Sprintf("%s: %s", DescribeSession(r.Before), r.Message))
		}
	}
	switch {
	case len(failed) > 0:
		return errors.New(strings.Join(slices.Concat(failed, refused), "; "))
	case len(refused) > 0:
		return ConflictError(strings.Join(refused, "; "), "")
	}
	return nil
}
