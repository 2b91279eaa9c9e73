package cmdutil

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/launch/stop"
)

// StopTimeout is how long an agent may take to end: several times what the slowest needs with a tool running.
const StopTimeout = 10 * time.Second

// StopError is why the command fails: for those that live on before those that nothing was done about.
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
