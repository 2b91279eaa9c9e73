package cli

import (
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

type usageOptions struct {
	CommonFlags
	by, since, prices string
	limits            bool
}

// defaultSince is the time window without --since.
const usageDefaultSince = "30d"

func usageCommand(f Env) *cli.Command {
	o := &usageOptions{}
	return &cli.Command{
		Usage:     "show the tokens that sessions used, and what they cost",
		UsageText: "agentctl usage [FLAGS]",
		Description: "usage adds up the tokens of all sessions, sub-agents included, each answer of a model once and at its own time.\n" +
			"The cost is the agents' own figure; ≥ marks one that is known for a part of the tokens only.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "one row for each `GROUP`: day, week, month, project, model, agent, session", Value: "day", Destination: &o.by},
			&cli.StringFlag{Name: "since", Usage: "what was used since `WHEN`: 12h, 30d, 2w, a date, a time, all", Value: usageDefaultSince, Destination: &o.since},
			AdapterFlag(&o.AdapterNames),
			&cli.StringFlag{Name: "prices", Usage: "also show what the tokens cost by the prices in this TOML `FILE`; - reads stdin", Destination: &o.prices},
			&cli.BoolFlag{Name: "limits", Usage: "show what each provider last said about its limits instead", Destination: &o.limits},
			&cli.BoolFlag{Name: "no-trunc", Usage: "do not shorten anything", Destination: &o.NoTrunc},
			FormatFlag(&o.Format, "{{.key}} {{.tokens.total}}"),
			JSONFlag(&o.JSON),
			NoColorFlag(&o.NoColor),
		},
		CustomHelpTemplate: HelpTemplate("agentctl usage --since 7d", "agentctl usage --by model --prices prices.toml", "agentctl usage --limits"),
		Action: func(c *cli.Context) error {
			if o.limits {
				for _, name := range []string{"by", "prices"} {
					if c.IsSet(name) {
						return UsageError("usage", "--limits and --%s cannot be used together", name)
					}
				}
				return runLimits(c.Context, f, o)
			}
			return runUsage(c.Context, f, o)
		},
	}
}

func runUsage(ctx context.Context, f Env, o *usageOptions) error {
	c, calls, err := f.NewHostCall("usage", &o.CommonFlags, object.UsageRow{}, nil)
	if err != nil {
		return err
	}
	if !slices.Contains(UsageGroups(), o.by) {
		return UnknownWord("group", o.by, UsageGroups())
	}
	since, err := windowStart(c, o)
	if err != nil {
		return err
	}
	total := newSums(group(o.by), c.Style.Now.Location())
	if o.prices != "" { // the file is on this machine
		var text []byte
		if total.prices, text, err = config.LoadPrices(o.prices, c.Stdin); err != nil {
			return UsageError("usage", "--prices: %v", err)
		}
		for i := range calls {
			calls[i] = calls[i].WithoutFlags("prices").WithFlags("--prices=-")
			calls[i].Stdin = text
		}
	}
	var left discover.UsageLeftOut
	reports, after, err := Collect(ctx, c, calls, func(ctx context.Context) ([]object.Usage, []*discover.Warning, error) {
		working, done := c.StartWork(ctx, "reading the agents' stores")
		defer done()
		var warnings []*discover.Warning
		left, warnings, err = c.Scanner.ReadUsage(working, discover.UsageFilter{Agents: c.Agents, Since: since}, total.add)
		return nil, warnings, err
	})
	if err != nil {
		return err
	}
	for _, u := range reports {
		total.merge(u)
	}
	u := total.report(since, c.Style.Now)
	if len(u.Rows) == 0 && !o.JSON {
		if err := after(); err != nil {
			return err // whether nothing was used is not known
		}
	}
	if err := usageShow(c, u, o); err != nil {
		return err
	}
	earlier := ""
	if left.Tokens > 0 {
		earlier = render.Count(left.Tokens) + " tokens that the others used earlier"
	}
	c.HintLeftOut("--since all", OlderSessions(left.Sessions), earlier)
	return after()
}

// windowStart returns the beginning of the time window. Rows by time begin with a whole day.
func windowStart(c *Call, o *usageOptions) (time.Time, error) {
	at, err := c.SinceTime("usage", cmp.Or(o.since, usageDefaultSince))
	if err == nil && !at.IsZero() && group(o.by).ofTime() {
		local := at.In(c.Style.Now.Location())
		at = time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, local.Location()).UTC()
	}
	return at, err
}

func usageShow(c *Call, u object.Usage, o *usageOptions) error {
	if len(u.UnpricedModels) > 0 {
		c.Report.Hint("no price for " + render.Sanitize(strings.Join(u.UnpricedModels, ", ")))
	}
	switch {
	case o.JSON:
		return render.JSON(c.Stdout, u)
	case c.Template != nil:
		return PrintEach(u.Rows, func(r object.UsageRow) error { return c.Template(c.Stdout, r) })
	case len(u.Rows) == 0:
		if c.Width > 0 {
			c.Report.Note("nothing was used")
		}
		return nil
	}
	return render.UsageTable(c.Stdout, u, c.Style)
}

func runLimits(ctx context.Context, f Env, o *usageOptions) error {
	c, calls, err := f.NewHostCall("usage", &o.CommonFlags, object.UsageLimit{}, nil)
	if err != nil {
		return err
	}
	since, err := c.SinceTime("usage", cmp.Or(o.since, usageDefaultSince))
	if err != nil {
		return err
	}
	older := 0
	limits, after, err := Collect(ctx, c, calls, func(ctx context.Context) (limits []object.UsageLimit, warnings []*discover.Warning, err error) {
		working, done := c.StartWork(ctx, "reading the agents' stores")
		defer done()
		var quotas []discover.StatedQuota
		quotas, older, warnings, err = c.Scanner.ReadQuotas(working, discover.UsageFilter{Agents: c.Agents, Since: since})
		for _, q := range quotas {
			limits = append(limits, object.NewUsageLimit(q))
		}
		return limits, warnings, err
	})
	if err != nil {
		return err
	}
	if len(limits) == 0 && c.Width > 0 {
		c.Report.Note("no agent has recorded a limit of its provider")
	}
	if err := PrintRows(c, limits, render.UsageLimitTable); err != nil {
		return err
	}
	c.HintLeftOut("--since all", OlderSessions(older))
	return after()
}

// sort puts rows in their order: times in theirs, all else by tokens.
func (g group) sort(rows []object.UsageRow) {
	sort.Slice(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		switch {
		case !g.ofTime() && a.Tokens.Total != b.Tokens.Total:
			return a.Tokens.Total > b.Tokens.Total
		case (a.Key == "") != (b.Key == ""):
			return b.Key == ""
		}
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Adapter, b.Adapter), cmp.Compare(a.Host, b.Host)) < 0
	})
}
