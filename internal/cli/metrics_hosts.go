package cli

import (
	"context"
	"slices"

	"agentctl/internal/object"
)

// metricsRunHosts prints the metrics of several machines. Each sample has the label host.
func metricsRunHosts(ctx context.Context, c *Call, o *metricsOptions) error {
	calls, err := c.HostCalls(c.Config, nil, nil, false)
	if err != nil {
		return err
	}
	for i := range calls {
		calls[i] = calls[i].Without("output") // the file is here
	}
	up := object.Metric{Name: "agentctl_host_up", Help: "1 if the host has answered in full."}
	var metrics []object.Metric
	partial := Gather(ctx, c, calls, func(m object.Metric) error {
		metrics = merge(metrics, m)
		return nil
	})
	if ExitCode(partial) == ExitInterrupted {
		return partial // a collector must not take a part for the whole
	}
	for _, call := range calls {
		value := 0.0
		if call.Whole() {
			value = 1
		}
		up.Add(value, "host", call.Target.Name)
	}
	if err := printMetrics(c.Factory, append(metrics, up), o); err != nil {
		return err
	}
	return partial
}

// merge adds the samples of a host's metric to those of the same name.
func merge(metrics []object.Metric, m object.Metric) []object.Metric {
	i := slices.IndexFunc(metrics, func(known object.Metric) bool { return known.Name == m.Name })
	if i < 0 {
		return append(metrics, m)
	}
	metrics[i].Samples = append(metrics[i].Samples, m.Samples...)
	return metrics
}
