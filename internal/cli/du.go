package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

type duOptions struct {
	CommonFlags
	by, since string
	olderThan time.Duration
	limit     int
	noPager   bool
}

func duCommand(env Env) *cli.Command {
	o := &duOptions{}
	return &cli.Command{
		Usage: "show what sessions take on disk",
		Description: "du counts the bytes that files have allocated: transcripts and all that lies beside them, the largest first. ~ marks an\n" +
			"estimate: the rows of a session in a database. A row with a path is what belongs to no session.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "one row for each `GROUP`: session, project, agent, month", Value: "session", Destination: &o.by},
			&cli.StringFlag{Name: "since", Usage: "only sessions active since `WHEN`: 12h, 30d, 2w, a date, a time, all", Value: "all", Destination: &o.since},
			DurationFlag("older-than", "only sessions that have not been active for `D`", &o.olderThan),
			AdapterFlag(&o.AdapterNames),
			&cli.IntFlag{Name: "n", Usage: "show at most `N` rows, the largest; without it, a terminal shows those of 1% and more", Destination: &o.limit},
		}, o.tableFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager", Destination: &o.noPager},
		}),
		CustomHelpTemplate: HelpTemplate("agentctl du -n 20", "agentctl du --by project --older-than 30d", "agentctl du --by agent --json"),
		Action:             func(c *cli.Context) error { return runDu(c.Context, env, o) },
	}
}

func runDu(ctx context.Context, env Env, o *duOptions) error {
	c, err := env.NewCall("du", &o.CommonFlags, object.DiskRow{})
	if err != nil {
		return err
	}
	if !slices.Contains(DiskGroups(), o.by) {
		return UnknownWord("group", o.by, DiskGroups())
	}
	if o.limit < 0 {
		return UsageError("du", "-n must be 0 or more")
	}
	filter := discover.DiskFilter{Agents: c.Agents}
	if filter.Since, err = c.SinceTime("du", o.since); err != nil {
		return err
	}
	if o.olderThan > 0 {
		filter.Before = c.Style.Now.Add(-o.olderThan)
	}
	sum := &diskSums{by: o.by, zone: c.Style.Now.Location(), rows: map[diskKey]*diskRow{}, projects: Projects{}}
	working, done := c.StartWork(ctx, "adding up the agents' stores")
	left, warnings, err := c.Scanner.ReadDisk(working, filter, sum.add)
	done()
	if err != nil {
		return err
	}
	if err := printDiskUsage(ctx, c, sum.report(o.limit), o); err != nil {
		return err
	}
	if left != (discover.DiskLeftOut{}) {
		row := object.DiskRow{Bytes: left.Bytes, Estimated: left.Estimated}
		of := "what belongs to no session"
		if left.Sessions > 0 {
			of = render.Count(int64(left.Sessions)) + " other sessions and of what belongs to none"
		}
		c.HintLeftOut("du without --since and --older-than", render.SizeText(row)+" of "+of)
	}
	return env.ReportWarnings(warnings)
}

func printDiskUsage(ctx context.Context, c *Call, u object.DiskUsage, o *duOptions) error {
	switch {
	case o.JSON:
		return render.JSON(c.Stdout, u)
	case c.Template != nil:
		return PrintEach(u.Rows, func(r object.DiskRow) error {
			r.Key = cmp.Or(r.Key, r.Path) // each row has a name
			return c.Template(c.Stdout, r)
		})
	case len(u.Rows) == 0:
		return nil
	}
	if c.Width > 0 && o.limit == 0 && !o.NoTrunc {
		all := len(u.Rows)
		u.Rows = slices.DeleteFunc(u.Rows, func(r object.DiskRow) bool { return r.Bytes*100 < u.Total.Bytes })
		if small := all - len(u.Rows); small > 0 {
			c.Report.Hint(fmt.Sprintf("%d rows below 1%% are hidden; --no-trunc shows all", small))
		}
	}
	var b bytes.Buffer
	if err := render.DiskTable(&b, u, c.Style); err != nil {
		return err
	}
	return c.Page(ctx, b.Bytes(), o.noPager)
}

// diskSums adds up what things take on disk.
type diskSums struct {
	by       string
	zone     *time.Location
	rows     map[diskKey]*diskRow
	total    diskRow
	projects Projects
}

// diskKey identifies a row: a session by its key, any other group by its text, and what belongs to no session by its path.
type diskKey struct {
	session    discover.Key
	text, path string
}

// diskRow is a row so far.
type diskRow struct {
	object.DiskRow
	parts    map[string]object.DiskPart
	sessions map[discover.Key]bool
}

// add adds what something takes. owner is its session; nil if it belongs to none.
func (d *diskSums) add(owner *discover.Record, sub bool, u discover.DiskUse) {
	kind := u.Kind
	if sub {
		kind = "sub-agents"
	}
	d.row(owner, u).add(owner, kind, u)
	d.total.add(owner, "", u)
}

func (d *diskSums) row(owner *discover.Record, u discover.DiskUse) *diskRow {
	var key diskKey
	var first object.DiskRow
	switch {
	case d.by == "agent":
		key.text = string(u.Agent)
		first.Key = key.text
	case owner == nil:
		key.path = u.Path
		first.Path, first.Adapter = u.Path, string(u.Agent)
	case d.by == "project":
		key.text = d.projects.Project(owner.Dir)
		first.Key = key.text
	case d.by == "month":
		key.text = owner.Updated.In(d.zone).Format("2006-01")
		first.Key = key.text
	default:
		key.session = owner.Key()
		first = object.DiskRow{
			Key: owner.ID, Adapter: string(owner.Agent), Title: cmp.Or(owner.Title, owner.Prompt), Project: d.projects.Project(owner.Dir),
			LastActivityAt: object.Timestamp(owner.Updated),
		}
	}
	row := d.rows[key]
	if row == nil {
		row = &diskRow{DiskRow: first}
		d.rows[key] = row
	}
	return row
}

// add adds what something takes. Without a kind, it is no part of its own.
func (d *diskRow) add(owner *discover.Record, kind string, u discover.DiskUse) {
	if d.sessions == nil {
		d.sessions, d.parts = map[discover.Key]bool{}, map[string]object.DiskPart{}
	}
	d.Bytes += u.Bytes
	d.Estimated = d.Estimated || u.Estimated
	if owner != nil && !owner.IsSubagent() {
		d.sessions[owner.Key()] = true
	}
	if kind == "" {
		return
	}
	part := d.parts[kind]
	d.parts[kind] = object.DiskPart{Kind: kind, Bytes: part.Bytes + u.Bytes, Files: part.Files + u.Files}
}

// report returns the rows, the largest first, at most limit of them if that is not 0.
func (d *diskSums) report(limit int) object.DiskUsage {
	u := object.DiskUsage{By: d.by, Rows: convert(slices.Collect(maps.Values(d.rows)), (*diskRow).row), Total: d.total.row()}
	slices.SortFunc(u.Rows, func(a, b object.DiskRow) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Path, b.Path))
	})
	if limit > 0 && len(u.Rows) > limit {
		u.Rows = u.Rows[:limit]
	}
	return u
}

func (d *diskRow) row() object.DiskRow {
	out := d.DiskRow
	out.Sessions = len(d.sessions)
	out.Parts = slices.SortedFunc(maps.Values(d.parts), func(a, b object.DiskPart) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}

// DiskGroups are the words that --by of du takes.
func DiskGroups() []string { return []string{"session", "project", "agent", "month"} }
