package export

import (
	"context"
	"sort"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
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
	type hostExport struct {
		host string
		output.Export
	}
	var all []hostExport
	failed := cmdutil.GatherExports(ctx, c, calls, func(host string, e output.Export) error {
		all = append(all, hostExport{host, e})
		return nil
	})
	if len(all) == 0 || failed != nil && cmdutil.ExitCode(failed) != cmdutil.ExitPartial {
		return failed
	}
	sort.SliceStable(all, func(i, j int) bool { return cmdutil.CompareHosts(calls, all[i].host, all[j].host) < 0 })
	exports := make([]output.Export, len(all))
	for i, e := range all {
		exports[i] = e.Export
	}
	if err := write(ctx, c, exports, o); err != nil {
		return err
	}
	return failed
}
