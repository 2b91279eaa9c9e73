package opencode

import (
	"database/sql"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"agentctl/discover"
)

// spent is what a session's own answers used, by a plain query.
type spent struct {
	in, out, total int64
	cost           float64
}

func (s *spent) add(o spent) {
	s.in, s.out, s.total, s.cost = s.in+o.in, s.out+o.out, s.total+o.total, s.cost+o.cost
}

// ownAnswers is a query for what the answers of each session used, without those copied from another session.
const ownAnswers = `select s.id, coalesce(s.parent_id, ''),
	sum(coalesce(json_extract(m.data, '$.tokens.input'), 0)), sum(coalesce(json_extract(m.data, '$.tokens.output'), 0)),
	sum(coalesce(json_extract(m.data, '$.tokens.input') + json_extract(m.data, '$.tokens.output') + json_extract(m.data, '$.tokens.reasoning')
		+ json_extract(m.data, '$.tokens.cache.read') + json_extract(m.data, '$.tokens.cache.write'), 0)),
	sum(coalesce(json_extract(m.data, '$.cost'), 0))
	from session s left join message m on m.session_id = s.id and m.time_created >= s.time_created
		and json_extract(m.data, '$.role') = 'assistant' group by s.id`

// spentIn returns what each session of a store used, and the parents of sub-agents.
func spentIn(t *testing.T, dir string) (own map[string]spent, parents map[string]string) {
	t.Helper()
	own, parents = map[string]spent{}, map[string]string{}
	path := filepath.Join(dir, "opencode.db")
	if _, err := os.Stat(path); err != nil {
		return spentInFiles(t, dir)
	}
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(ownAnswers)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent string
		var s spent
		if err := rows.Scan(&id, &parent, &s.in, &s.out, &s.total, &s.cost); err != nil {
			t.Fatal(err)
		}
		own[id], parents[id] = s, parent
	}
	return own, parents
}

func spentInFiles(t *testing.T, dir string) (own map[string]spent, parents map[string]string) {
	t.Helper()
	own, parents = map[string]spent{}, map[string]string{}
	sessions, _ := filepath.Glob(filepath.Join(dir, "storage/session/*/*.json"))
	for _, path := range sessions {
		var s struct {
			ID, ParentID string
			Time         struct{ Created int64 }
		}
		decode(t, path, &s)
		parents[s.ID] = s.ParentID
		messages, _ := filepath.Glob(filepath.Join(dir, "storage/message", s.ID, "*.json"))
		var sum spent
		for _, path := range messages {
			var m struct {
				Cost   float64
				Time   struct{ Created int64 }
				Tokens struct {
					Input, Output, Reasoning int64
					Cache                    struct{ Read, Write int64 }
				}
			}
			if decode(t, path, &m); m.Time.Created >= s.Time.Created {
				k := m.Tokens
				sum.add(spent{k.Input, k.Output, k.Input + k.Output + k.Reasoning + k.Cache.Read + k.Cache.Write, m.Cost})
			}
		}
		own[s.ID] = sum
	}
	return own, parents
}

func decode(t *testing.T, path string, to any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// In every captured store, the total of a session is what its own answers and those of its sub-agents used. Messages copied by a fork count
// only in the original session.
func TestTotals(t *testing.T) {
	for name, unpack := range captured(t) {
		t.Run(name, func(t *testing.T) {
			dir := unpack()
			records, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, whole)
			if err != nil {
				t.Fatal(err)
			}
			own, parents := map[string]spent{}, map[string]string{}
			if name != "raw-tui-permission-pending" {
				own, parents = spentIn(t, dir)
			}
			for _, r := range records {
				want := own[r.ID]
				for id, s := range own {
					for p := parents[id]; p != ""; p = parents[p] {
						if p == r.ID {
							want.add(s)
						}
					}
				}
				var got spent
				if r.Tokens != nil {
					got = spent{r.Tokens.In, r.Tokens.Out, r.Tokens.Total, *r.Cost}
				}
				if got.in != want.in || got.out != want.out || got.total != want.total || math.Abs(got.cost-want.cost) > 1e-12 {
					t.Errorf("%s: %+v, want %+v", r.ID, got, want)
				}
			}
		})
	}
}

// A session can have sub-agents of sub-agents, and in a damaged store be its own sub-agent.
func TestTotalsOfGrandchildren(t *testing.T) {
	const child, other = "ses_e0000c9f7ffeLls58oOl0Elxzy", "ses_e00011cb1ffe1cYGmjra8CLZP5"
	dir := restore(t, "family")
	db := filepath.Join(dir, "opencode.db")
	execute(t, db, "update session set parent_id = '"+child+"' where id = '"+other+"'")
	total := func(id string, want discover.ReadOptions) int64 {
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: id, Subagents: true}, want)
		if err != nil || len(records) != 1 || records[0].Tokens == nil {
			t.Fatalf("%+v, %v", records, err)
		}
		return records[0].Tokens.Total
	}
	for _, want := range []discover.ReadOptions{{}, whole} {
		if got := total("ses_e0000e410ffe8UVAmhaap2NBgh", want); got != 5*1068 {
			t.Errorf("%+v: %d", want, got)
		}
	}
	execute(t, db, "update session set parent_id = id where id = '"+other+"'")
	if got := total(other, whole); got != 1068 {
		t.Errorf("its own child: %d", got)
	}
}

// After a compaction, the size of the context is unknown until the next answer.
func TestContextAfterCompaction(t *testing.T) {
	const id = "ses_e0000b898ffeazalBHsMekyOeh"
	dir := restore(t, "family")
	context := func() int64 {
		t.Helper()
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: id}, whole)
		if err != nil || len(records) != 1 {
			t.Fatalf("%+v, %v", records, err)
		}
		cheap, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: id}, discover.ReadOptions{})
		if err != nil || len(cheap) != 1 || cheap[0].Tokens.Context != records[0].Tokens.Context {
			t.Errorf("%+v, %v", cheap[0].Tokens, err)
		}
		return records[0].Tokens.Context
	}
	if got := context(); got != 1068 {
		t.Errorf("after an answer: %d", got)
	}
	execute(t, filepath.Join(dir, "opencode.db"), "delete from message where session_id = '"+id+
		"' and time_created > (select max(time_created) from message where json_extract(data, '$.summary') = 1)")
	if got := context(); got != 0 {
		t.Errorf("after the summary: %d", got)
	}
}

// The limit for which the provider refused a request is shown until the next prompt.
func TestQuota(t *testing.T) {
	const refused = `{"role":"assistant","time":{"created":1795296617637,"completed":1795296620584},"error":{"name":"APIError","data":` +
		`{"message":"Insufficient balance","statusCode":402,"isRetryable":false}}}`
	dir := restore(t, "family")
	db := filepath.Join(dir, "opencode.db")
	execute(t, db, "insert into message values ('msg_f', 'ses_e00011cb1ffe1cYGmjra8CLZP5', 1795296617637, 1, '"+refused+"')")
	read := func() []discover.Quota {
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: "ses_e00011cb1ffe1cYGmjra8CLZP5"}, whole)
		if err != nil || len(records) != 1 {
			t.Fatalf("%+v, %v", records, err)
		}
		return records[0].Quotas
	}
	if q := read(); len(q) != 1 || !q[0].Reached || q[0].Text != "Insufficient balance" || !q[0].Resets.IsZero() || q[0].Time.UnixMilli() != 1795296620584 {
		t.Errorf("%+v", q)
	}
	execute(t, db, "update message set data = replace(data, '402', '400') where id = 'msg_f'")
	if q := read(); q != nil {
		t.Errorf("another error: %+v", q)
	}
}
