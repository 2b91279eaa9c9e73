package opencode

import (
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
)

// The background service of OpenCode 2 is one presence that says that its sessions are unknown.
func TestV2Service(t *testing.T) {
	dir := restore(t, "fdpos")
	p := withLog(agent(1, at(t, "19:26:50"), "serve", "--service"), dir, 20219)
	p.Name, p.Exe = "opencode2", "/opt/opencode/bin/opencode2"
	got := claimed(t, p)[1]
	if len(got) != 1 || got[0].Session != "" || got[0].HideIfUnlinked || got[0].Dir != "" || !strings.Contains(got[0].Unreadable, "OpenCode 2") {
		t.Errorf("claims %+v", got)
	}
}

// A database with sessions of OpenCode 2 costs a warning in a full list. Its other sessions are listed.
func TestV2Sessions(t *testing.T) {
	dir := restore(t, "fdpos")
	path := filepath.Join(dir, "opencode.db")
	all := func() (int, error) {
		entries, err := New().Entries(t.Context(), homeOf(dir), discover.EntryFilter{})
		return len(entries), err
	}
	before, err := all()
	if err != nil || before == 0 {
		t.Fatal(before, err)
	}
	execute(t, path, "create table session_v2 (id text primary key, title text)")
	if n, err := all(); n != before || err != nil {
		t.Errorf("with none of them: %d of %d, %v", n, before, err)
	}
	execute(t, path, "insert into session_v2 values ('ses_1', 'new')")
	n, err := all()
	if oneWarning(t, err, path); n != before || !strings.Contains(err.Error(), "OpenCode 2") {
		t.Errorf("%d of %d, %v", n, before, err)
	}
	if _, err := New().Entries(t.Context(), homeOf(dir), discover.EntryFilter{Refs: []discover.Ref{{ID: "ses_1"}}}); err != nil {
		t.Errorf("where one of the others is asked for: %v", err)
	}
	execute(t, path, "drop table part")
	n, err = all()
	if oneWarning(t, err, path); n != 0 || !strings.Contains(err.Error(), "OpenCode 2") {
		t.Errorf("without the older tables: %d, %v", n, err)
	}
}
