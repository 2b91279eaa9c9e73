// Package metrics is the command metrics.
package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

type metricsOptions struct {
	CommonFlags
	since, output string
	tokens        bool
}

// metricsCommand makes the command metrics.
func metricsCommand(f Factory) *cli.Command {
	o := &metricsOptions{}
	return &cli.Command{
		Usage:     "print metrics of all sessions in Prometheus's text format, once",
		UsageText: "agentctl metrics [FLAGS]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "count stopped sessions active since `WHEN`, as for list (default: 7d, or the configuration's)", Destination: &o.since},
			AdapterFlag(&o.AdapterNames),
			&cli.BoolFlag{Name: "tokens", Usage: "count the tokens of every session; this reads whole files", Destination: &o.tokens},
			JSONFlag(&o.JSON),
			&cli.StringFlag{Name: "output", Usage: "write to `FILE` instead of stdout, and replace it atomically", Destination: &o.output},
		},
		CustomHelpTemplate: HelpTemplate("agentctl metrics", "agentctl metrics --output /var/lib/node_exporter/textfile/agentctl.prom"),
		Action: func(c *cli.Context) error {
			return runMetrics(c.Context, f, o)
		},
	}
}

func runMetrics(ctx context.Context, f Factory, o *metricsOptions) error {
	c, err := f.NewCall("metrics", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	if f.OnHosts() {
		return metricsRunHosts(ctx, c, o)
	}
	filter := discover.SessionFilter{Agents: c.Agents, IncludeStopped: true, Subagents: true, Tokens: o.tokens}
	if filter.Since, err = c.SinceTime("metrics", o.since); err != nil {
		return err
	}
	began := time.Now()
	r, err := c.List(ctx, "reading the agents' stores", filter)
	if err != nil {
		return err
	}
	metrics := collect(f, r, filter, c.Style.Now)
	took := object.Metric{Name: "agentctl_scan_duration_seconds", Help: "Time that reading the processes and the agents' stores took."}
	took.Add(time.Since(began).Seconds())
	if err := printMetrics(f, append(metrics, took), o); err != nil {
		return err
	}
	return f.ReportWarnings(r.Warnings)
}

// printMetrics prints metrics to stdout or a file.
func printMetrics(f Factory, metrics []object.Metric, o *metricsOptions) error {
	var text bytes.Buffer
	var err error
	if o.JSON {
		metrics = slices.DeleteFunc(metrics, func(m object.Metric) bool { return len(m.Samples) == 0 })
		err = render.JSONArray(&text, metrics)
	} else {
		err = render.Exposition(&text, metrics)
	}
	switch {
	case err != nil:
	case o.output != "":
		err = replace(o.output, text.Bytes())
	default:
		_, err = f.Stdout.Write(text.Bytes())
	}
	return err
}

// replace writes a file atomically, readable for all users. While it is written its name ends in no suffix that a
// collector reads.
func replace(path string, text []byte) error {
	if err := CheckDirectory(filepath.Dir(path)); err != nil {
		return UsageError("metrics", "--output: %v", err)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return UsageError("metrics", "--output: %s is not a regular file", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }() // it is gone, if all went well
	_, err = draft.Write(text)
	if err := errors.Join(err, draft.Chmod(0o644), draft.Sync(), draft.Close()); err != nil {
		return err
	}
	return os.Rename(draft.Name(), path)
}
