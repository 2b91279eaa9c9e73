package du

import (
	"cmp"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// sums adds up what things take on disk.
type sums struct {
	by       string
	zone     *time.Location
	rows     map[rowKey]*sum
	total    sum
	projects cmdutil.Projects
}

// rowKey identifies a row: a session by its key, any other group by its text, and what belongs to no session by its path.
type rowKey struct {
	session    discover.Key
	text, path string
}

// sum is a row so far.
type sum struct {
	output.DiskRow
	parts    map[string]*output.DiskPart
	sessions map[discover.Key]bool
}

func newSums(by string, zone *time.Location) *sums {
	return &sums{by: by, zone: zone, rows: map[rowKey]*sum{}, projects: cmdutil.Projects{}}
}

// add adds what something takes. owner is its session; nil if it belongs to none.
func (s *sums) add(owner *discover.Record, sub bool, u discover.DiskUse) {
	kind := u.Kind
	if sub {
		kind = "sub-agents"
	}
	s.row(owner, u).add(owner, kind, u)
	s.total.add(owner, "", u)
}

func (s *sums) row(owner *discover.Record, u discover.DiskUse) *sum {
	var key rowKey
	var first output.DiskRow
	switch {
	case s.by == "agent":
		key.text = string(u.Agent)
		first.Key = key.text
	case owner == nil:
		key.path = u.Path
		first.Path, first.Adapter = u.Path, string(u.Agent)
	case s.by == "project":
		key.text = s.projects.Of(owner.Dir)
		first.Key = key.text
	case s.by == "month":
		key.text = owner.Updated.In(s.zone).Format("2006-01")
		first.Key = key.text
	default:
		key.session = owner.Key()
		first = output.DiskRow{
			Key: owner.ID, Adapter: string(owner.Agent), Title: cmp.Or(owner.Title, owner.Prompt), Project: s.projects.Of(owner.Dir),
			LastActivityAt: output.Timestamp(owner.Updated),
		}
	}
	row := s.rows[key]
	if row == nil {
		row = &sum{DiskRow: first}
		s.rows[key] = row
	}
	return row
}

// add adds what something takes. Without a kind, it is no part of its own.
func (r *sum) add(owner *discover.Record, kind string, u discover.DiskUse) {
	if r.sessions == nil {
		r.sessions, r.parts = map[discover.Key]bool{}, map[string]*output.DiskPart{}
	}
	r.Bytes += u.Bytes
	r.Estimated = r.Estimated || u.Estimated
	if owner != nil && !owner.IsSubagent() {
		r.sessions[owner.Key()] = true
	}
	if kind == "" {
		return
	}
	part := r.parts[kind]
	if part == nil {
		part = &output.DiskPart{Kind: kind}
		r.parts[kind] = part
	}
	part.Bytes, part.Files = part.Bytes+u.Bytes, part.Files+u.Files
}

// report returns the rows, the largest first, at most limit of them if that is not 0.
func (s *sums) report(limit int) output.DiskUsage {
	u := output.DiskUsage{By: s.by, Rows: []output.DiskRow{}, Total: s.total.row()}
	for _, row := range s.rows {
		u.Rows = append(u.Rows, row.row())
	}
	slices.SortFunc(u.Rows, func(a, b output.DiskRow) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Path, b.Path))
	})
	if limit > 0 && len(u.Rows) > limit {
		u.Rows = u.Rows[:limit]
	}
	return u
}

func (r *sum) row() output.DiskRow {
	out := r.DiskRow
	out.Sessions = len(r.sessions)
	for _, p := range r.parts {
		out.Parts = append(out.Parts, *p)
	}
	slices.SortFunc(out.Parts, func(a, b output.DiskPart) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Kind, b.Kind))
	})
	return out
}
