package export

import (
	"context"
	"sort"

	"agentctl/internal/cmdutil"
	"agentctl/internal/object"
)

// runHosts exports sessions of other machines: each reads and redacts its own, and the document is written here.
func runHosts(ctx context.Context, c *cmdutil.Call, args []string, o *options) error {
	calls, err := c.HostCalls(c.Config, args, nil, false)
	if err != nil {
		return err
	}
	for i := range calls {
		calls[i] = calls[i].Without("as", "output", "o", "tools").With("--tools=" + o.tools)
	}
	if o.file != "" {
		if err := checkTarget(ctx, c, o.file, nil); err != nil {
			return err
		}
	}
	var exports []object.Export
	failed := cmdutil.GatherExports(ctx, c, calls, func(e object.Export) error {
		exports = append(exports, e)
		return nil
	})
	if len(exports) == 0 || failed != nil && cmdutil.ExitCode(failed) != cmdutil.ExitPartial {
		return failed
	}
	sort.SliceStable(exports, func(i, j int) bool {
		return cmdutil.CompareHosts(calls, exports[i].Session.Host, exports[j].Session.Host) < 0
	})
	if err := write(ctx, c, exports, o); err != nil {
		return err
	}
	return failed
}
