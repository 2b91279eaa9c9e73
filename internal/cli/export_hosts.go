package cli

import (
	"context"
	"sort"

	"agentctl/internal/object"
)

// exportRunHosts exports sessions of other machines: each reads and redacts its own, and the document is written here.
func exportRunHosts(ctx context.Context, c *Call, args []string, o *exportOptions) error {
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
	failed := GatherExports(ctx, c, calls, func(e object.Export) error {
		exports = append(exports, e)
		return nil
	})
	if len(exports) == 0 || failed != nil && ExitCode(failed) != ExitPartial {
		return failed
	}
	sort.SliceStable(exports, func(i, j int) bool {
		return CompareHosts(calls, exports[i].Session.Host, exports[j].Session.Host) < 0
	})
	if err := write(ctx, c, exports, o); err != nil {
		return err
	}
	return failed
}
