package opencode

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/discover"
)

// copies returns statements that copy all sessions of a database many times. The copies of a session have other first digits in their IDs, so
// they are far apart in the order of IDs, but near each other in the tables.
func copies(table, columns string) string {
	ids := func(column string) string {
		return "substr(" + column + ", 1, 4) || printf('%04x', k * 40503 % 65536) || substr(" + column + ", 9)"
	}
	var values []string
	for column := range strings.SplitSeq(columns, ",") {
		if column = strings.TrimSpace(column); strings.HasSuffix(column, "id") && column != "project_id" {
			column = ids(column)
		}
		values = append(values, column)
	}
	return "with recursive copy(k) as (select 1 union all select k + 1 from copy where k < 400) insert into " + table + "(" + columns + ") select " +
		strings.Join(values, ", ") + " from copy, (select * from " + table + ")"
}

// A session that is read with many others, which share its pages, is the same as one that is read alone.
func TestReadInAnyBatch(t *testing.T) {
	dir := restore(t, "family")
	execute(
		t, filepath.Join(dir, "opencode.db"), copies("part", "id, message_id, session_id, time_created, time_updated, data"),
		copies("message", "id, session_id, time_created, time_updated, data"),
		copies("session", `id, project_id, parent_id, slug, directory, title, version, permission, time_created, time_updated, cost, tokens_input,
			tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, agent, model`),
	)
	for _, want := range []discover.ReadOptions{{}, whole} {
		together, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, want)
		if err != nil || len(together) <= 2*batchSize {
			t.Fatalf("%d sessions, %v", len(together), err)
		}
		turns, prompts, spent := 0, 0, 0
		for i, r := range together {
			if r.Turn.State != discover.TurnNone {
				turns++
			}
			if r.Prompt != "" {
				prompts++
			}
			if r.Tokens != nil {
				spent++
			}
			if i%13 > 0 {
				continue
			}
			alone, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true, ID: r.ID}, want)
			if err != nil || len(alone) != 1 || !reflect.DeepEqual(alone[0], r) {
				t.Errorf("together %+v, alone %+v, %v", r, alone, err)
			}
		}
		if least := len(together) / 2; turns < least || prompts < least || spent < least {
			t.Errorf("%d turns, %d prompts, %d with tokens of %d", turns, prompts, spent, len(together))
		}
	}
}
