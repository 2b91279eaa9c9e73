package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/lock"
)

type usageOptions struct {
	CommonFlags
	by, since, prices string
	limits            bool
}

func usageCommand(env Env) *cli.Command {
	o := &usageOptions{}
	return &cli.Command{
		Usage: "show the tokens that sessions used, and what they cost",
		Description: "usage adds up the tokens of all sessions, sub-agents included, each answer of a model once and at its own time.\n" +
			"The cost is the agents' own figure; ≥ marks one that is known for a part of the tokens only.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "one row for each `GROUP`: day, week, month, project, model, agent, session", Value: "day", Destination: &o.by},
			&cli.StringFlag{Name: "since", Usage: "what was used since `WHEN`: 12h, 30d, 2w, a date, a time, all", Value: "30d", Destination: &o.since},
			AdapterFlag(&o.AdapterNames),
			&cli.StringFlag{Name: "prices", Usage: "also show what the tokens cost by the prices in this TOML `FILE`; - reads stdin", Destination: &o.prices},
			&cli.BoolFlag{Name: "limits", Usage: "show what each provider last said about its limits instead", Destination: &o.limits},
		}, o.tableFlags()),
		CustomHelpTemplate: HelpTemplate("agentctl usage --since 7d", "agentctl usage --by model --prices prices.toml", "agentctl usage --limits"),
		Action: func(c *cli.Context) error {
			if o.limits {
				for _, name := range []string{"by", "prices"} {
					if c.IsSet(name) {
						return UsageError("usage", "--limits and --%s cannot be used together", name)
					}
				}
				return runLimits(c.Context, env, o)
			}
			return runUsage(c.Context, env, o)
		},
	}
}

func runUsage(ctx context.Context, env Env, o *usageOptions) error {
	c, calls, err := env.NewHostCall("usage", &o.CommonFlags, object.UsageRow{}, nil)
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
	total := &sums{
		by: o.by, zone: c.Style.Now.Location(), unpriced: map[string]bool{}, rows: map[usageRowKey]*object.UsageRow{}, projects: Projects{},
		parents: map[usageRowKey]usageRowKey{},
	}
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
	if err := printUsage(c, u, o); err != nil {
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
	at, err := c.SinceTime("usage", o.since)
	if err == nil && !at.IsZero() && isTimeGroup(o.by) {
		local := at.In(c.Style.Now.Location())
		at = time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, local.Location()).UTC()
	}
	return at, err
}

func printUsage(c *Call, u object.Usage, o *usageOptions) error {
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

func runLimits(ctx context.Context, env Env, o *usageOptions) error {
	c, calls, err := env.NewHostCall("usage", &o.CommonFlags, object.UsageLimit{}, nil)
	if err != nil {
		return err
	}
	since, err := c.SinceTime("usage", o.since)
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

// UsageGroups are the words that --by of usage takes.
func UsageGroups() []string {
	return []string{"day", "week", "month", "project", "model", "agent", "session"}
}

func isTimeGroup(by string) bool { return slices.Contains([]string{"day", "week", "month"}, by) }

// sums adds up what sessions used.
type sums struct {
	by       string
	zone     *time.Location
	prices   map[string]config.Price // nil: nothing is estimated
	unpriced map[string]bool
	rows     map[usageRowKey]*object.UsageRow
	total    object.UsageRow
	projects Projects
	parents  map[usageRowKey]usageRowKey // of sub-agents, by session
}

// usageRowKey identifies a row. Only sessions have an agent; a directory and a session are of one machine.
type usageRowKey struct{ host, agent, text string }

// add adds what a session of this machine used.
func (s *sums) add(u *discover.SessionUsage) {
	seen := map[*object.UsageRow]bool{&s.total: true}
	if !u.IsSubagent() {
		s.total.Sessions++
	}
	var fixed *object.UsageRow // the row of all answers
	if !isTimeGroup(s.by) && s.by != "model" {
		fixed = s.row(s.keyOf(u))
	}
	for i := range u.Usage {
		a, row := &u.Usage[i], fixed
		if row == nil {
			row = s.row(usageRowKey{text: s.answerKey(a)})
		}
		if !seen[row] && !u.IsSubagent() {
			row.Sessions++
		}
		seen[row] = true
		used := s.answerRow(a)
		addUsage(row, &used)
		addUsage(&s.total, &used)
	}
}

// merge adds what the sessions of another machine used.
func (s *sums) merge(u object.Usage) {
	for i := range u.Rows {
		r := &u.Rows[i]
		row := s.row(usageRowKey{r.Host, r.Adapter, r.Key})
		row.Title, row.Project = r.Title, r.Project
		addUsage(row, r)
	}
	addUsage(&s.total, &u.Total)
	for _, model := range u.UnpricedModels {
		s.unpriced[model] = true
	}
}

// answerRow is what one answer used.
func (s *sums) answerRow(a *discover.Usage) object.UsageRow {
	used := object.UsageRow{Tokens: object.Tokens(a.Tokens)}
	if a.CostKnown {
		used.Cost = &a.Cost
	}
	if s.prices == nil || a.Tokens.Total == 0 {
		return used
	}
	usd, missing := s.estimate(a)
	if missing != "" {
		s.unpriced[missing] = true
	} else {
		used.ReckonedCost = &usd
	}
	return used
}

// addUsage adds a row to another one.
func addUsage(to, from *object.UsageRow) {
	to.CostPartial = addAmount(&to.Cost, from.Cost, to, from) || to.CostPartial || from.CostPartial
	to.ReckonedPartial = addAmount(&to.ReckonedCost, from.ReckonedCost, to, from) || to.ReckonedPartial || from.ReckonedPartial
	to.Tokens, to.Sessions = to.Tokens.Plus(from.Tokens), to.Sessions+from.Sessions
}

// addAmount adds an amount of a row, nil if it is not known, to that of another row. The sum is partial if one is not known of a row that has tokens.
func addAmount(sum **float64, amount *float64, to, from *object.UsageRow) (partial bool) {
	switch {
	case amount == nil:
		return *sum != nil && from.Tokens.Total > 0
	case *sum == nil:
		*sum = new(*amount)
		return to.Tokens.Total > 0
	}
	**sum += *amount
	return false
}

// roundAmounts drops the digits of the sums that depend on the order in which sessions were read.
func roundAmounts(r *object.UsageRow) {
	const digits = 1e9
	for _, sum := range []*float64{r.Cost, r.ReckonedCost} {
		if sum != nil {
			*sum = math.Round(*sum*digits) / digits
		}
	}
}

func (s *sums) keyOf(u *discover.SessionUsage) usageRowKey {
	switch s.by {
	case "project":
		return usageRowKey{text: s.projects.Project(u.Dir)}
	case "agent":
		return usageRowKey{text: string(u.Agent)}
	}
	key := usageRowKey{agent: string(u.Agent), text: u.ID}
	if u.IsSubagent() && u.Parent != "" {
		s.parents[key] = usageRowKey{agent: string(u.Agent), text: u.Parent}
	}
	row := s.row(key)
	row.Title, row.Project = cmp.Or(u.Title, u.Prompt), s.projects.Project(u.Dir)
	return key
}

// answerKey returns the row of an answer: its time or its model; "" where that is not known.
func (s *sums) answerKey(a *discover.Usage) string {
	key := s.timeKey(a.Time)
	switch {
	case s.by == "model":
		return a.Model
	case !a.From.IsZero() && s.timeKey(a.From) != key:
		return ""
	}
	return key
}

// timeKey returns the row of a time; "" for none.
func (s *sums) timeKey(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch local := t.In(s.zone); s.by {
	case "week":
		year, week := local.ISOWeek()
		return fmt.Sprintf("%04d-W%02d", year, week)
	case "month":
		return local.Format("2006-01")
	default:
		return local.Format(time.DateOnly)
	}
}

func (s *sums) row(key usageRowKey) *object.UsageRow {
	row := s.rows[key]
	if row == nil {
		row = &object.UsageRow{Host: key.host, Adapter: key.agent, Key: key.text}
		s.rows[key] = row
	}
	return row
}

// mergeSubagents adds the rows of sub-agents to those of the sessions that they work for in the end.
func (s *sums) mergeSubagents() {
	for _, key := range slices.SortedFunc(maps.Keys(s.parents), func(a, b usageRowKey) int { return cmp.Or(cmp.Compare(a.agent, b.agent), cmp.Compare(a.text, b.text)) }) {
		top := key
		for range len(s.parents) { // a damaged store may have a loop
			parent, isSubagent := s.parents[top]
			if !isSubagent {
				break
			}
			top = parent
		}
		if row := s.rows[top]; row != nil && top != key {
			addUsage(row, s.rows[key])
			delete(s.rows, key)
		}
	}
}

// report returns the rows: times in their order, all else by tokens.
func (s *sums) report(since, until time.Time) object.Usage {
	s.mergeSubagents()
	u := object.Usage{
		By: s.by, Since: object.Timestamp(since), Until: object.Timestamp(until), Rows: []object.UsageRow{},
		Total: s.total, UnpricedModels: slices.Sorted(maps.Keys(s.unpriced)),
	}
	for _, row := range s.rows {
		u.Rows = append(u.Rows, *row)
	}
	roundAmounts(&u.Total)
	for i := range u.Rows {
		roundAmounts(&u.Rows[i])
	}
	slices.SortFunc(u.Rows, func(a, b object.UsageRow) int {
		byTokens := cmp.Compare(b.Tokens.Total, a.Tokens.Total)
		if isTimeGroup(s.by) {
			byTokens = 0
		}
		const last = "\xff" // behind all keys
		byKey := cmp.Compare(cmp.Or(a.Key, last), cmp.Or(b.Key, last))
		return cmp.Or(byTokens, byKey, cmp.Compare(a.Adapter, b.Adapter), cmp.Compare(a.Host, b.Host))
	})
	return u
}

// estimate returns what an answer costs by the prices. missing is the model if the file has no price for it, with the kinds if it has
// none for some kinds of the tokens that were used; "" if it has all.
func (s *sums) estimate(a *discover.Usage) (usd float64, missing string) {
	model := cmp.Or(a.Model, "unknown model")
	price, ok := s.prices[a.Model]
	if !ok {
		price, ok = s.prices[a.Model[strings.LastIndexByte(a.Model, '/')+1:]] // without the provider
	}
	if !ok {
		return 0, model
	}
	var kinds []string
	for _, part := range []struct {
		kind   string
		tokens int64
		usd    *float64
	}{
		{"in", a.Tokens.In, price.In},
		{"out", a.Tokens.Out, price.Out},
		{"cache_read", a.Tokens.CacheRead, price.CacheRead},
		{"cache_write", a.Tokens.CacheWrite, price.CacheWrite},
	} {
		switch {
		case part.tokens == 0:
		case part.usd == nil:
			kinds = append(kinds, part.kind)
		default:
			usd += float64(part.tokens) * *part.usd / 1e6
		}
	}
	if kinds != nil {
		missing = model + " (" + strings.Join(kinds, ", ") + ")"
	}
	return usd, missing
}

// Projects says which project a directory belongs to. It keeps its answers.
type Projects map[string]string

// Project returns the directory of the git repository that a directory is in, so that all its worktrees are one project; else the
// directory itself.
func (p Projects) Project(dir string) string {
	project, known := p[dir]
	if !known {
		project = dir
		if repo, err := lock.RepositoryOf(dir); dir != "" && err == nil {
			project = repo.Dir()
		}
		p[dir] = project
	}
	return project
}
