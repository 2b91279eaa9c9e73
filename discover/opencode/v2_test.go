package opencode

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/opencode2"
	"agentctl/tests/proctest"
)

// The sessions of testdata/dumps/v2.sql, which was made up by the source of OpenCode 2.0.26.
const (
	v2Finished = "ses_e07d0e17fffe6QMFYo8YfzasPP" // its first turn failed, its second succeeded
	v2Claimed  = "ses_e07c7b9bfffeI1S9SMRpmZeRHk" // in a turn, with a shell command and a queued prompt
	v2Child    = "ses_e07cfd00fffeiNNDVr4akFjno6" // of v2Finished
)

// Changes of the claimed session, as the source says that they are stored.
const (
	v2Newest    = `session_id = '` + v2Claimed + `' AND seq = 13`
	v2Question  = `UPDATE session_message SET data = json_set(data, '$.content[1].name', 'question', '$.content[1].state.input', json('{"questions":[{"question":"Which port?","options":[]}]}')) WHERE ` + v2Newest
	v2Subagent  = `UPDATE session_message SET data = json_set(data, '$.content[1].name', 'subagent') WHERE ` + v2Newest
	v2Fetch     = `UPDATE session_message SET data = json_set(data, '$.content[1].name', 'webfetch') WHERE ` + v2Newest
	v2Retry     = `UPDATE session_message SET data = json_set(data, '$.content', json('[]'), '$.retry', json('{"attempt":3,"at":1795165860000}')) WHERE ` + v2Newest
	v2Unclaim   = `UPDATE session_v2 SET time_suspended = NULL WHERE id = '` + v2Claimed + `'`
	v2Interrupt = `UPDATE session_v2 SET time_suspended = NULL, time_idle = 1795165858010, idle_outcome = 'interrupted' WHERE id = '` + v2Claimed + `'`
	v2IdleRow   = `INSERT INTO session_message VALUES ('msg_1f83928da001UBTJZFZfy8JvOj', '` + v2Claimed + `', 'idle', 21, 1795165858010, 1795165858010, '{"outcome":"interrupted","time":{"created":1795165858010}}')`
)

// v2Aborted is how the answer of the claimed session is stored whose tool call has ended with this error.
func v2Aborted(text string) string {
	return `UPDATE session_message SET data = json_set(data, '$.content[1].state', json('{"status":"error","input":{"command":"go test ./..."},"error":{"type":"aborted","message":"` + text +
		`"}}'), '$.finish', 'error', '$.error', json('{"type":"aborted","message":"Step interrupted"}'), '$.time.completed', 1795165858000) WHERE ` + v2Newest
}

// restoreV2 makes a data folder with the sessions of OpenCode 2 and these changes.
func restoreV2(t testing.TB, changes ...string) (dir string) {
	t.Helper()
	dir = restore(t, "v2")
	execute(t, filepath.Join(dir, "opencode.db"), changes...)
	return dir
}

// v2Record reads a session of a data folder, which must be read without a warning.
func v2Record(t *testing.T, dir, id string, want discover.ReadOptions) discover.Record {
	t.Helper()
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{ID: id, Subagents: true}, want)
	if err != nil || len(records) != 1 {
		t.Fatalf("%s: %d records, %v", id, len(records), err)
	}
	return records[0]
}

// What the newest rows say of the turn, with and without a claim.
func TestV2Turn(t *testing.T) {
	row := func(kind, data string) string {
		return fmt.Sprintf(`INSERT INTO session_message VALUES ('msg_new', '%s', '%s', 40, 1795165870000, 1795165870000, '%s')`, v2Claimed, kind, data)
	}
	for name, test := range map[string]struct {
		changes []string
		want    discover.Turn
	}{
		"tool runs":         {nil, discover.Turn{State: discover.TurnOpen, Detail: "tool: shell"}},
		"question":          {[]string{v2Question}, discover.Turn{State: discover.TurnWaiting, WaitingFor: "question"}},
		"retry":             {[]string{v2Retry}, discover.Turn{State: discover.TurnOpen, Detail: "retrying, attempt 3"}},
		"declined":          {[]string{v2Aborted(declinedCall)}, discover.Turn{State: discover.TurnInterrupted}},
		"server ended":      {[]string{v2Aborted("Tool execution interrupted")}, discover.Turn{State: discover.TurnInterrupted}},
		"interrupted":       {[]string{v2Aborted("Tool execution interrupted"), v2IdleRow, v2Interrupt}, discover.Turn{State: discover.TurnInterrupted}},
		"settings changed":  {[]string{row("model-switched", "{}")}, discover.Turn{State: discover.TurnOpen, Detail: "tool: shell"}},
		"unknown type":      {[]string{row("hologram", `{"text":"?"}`)}, discover.Turn{State: discover.TurnOpen, Detail: "tool: shell"}},
		"delivered":         {[]string{row("user", `{"text":"x"}`)}, discover.Turn{State: discover.TurnOpen, Detail: "model", Unanswered: true, Prompt: "x"}},
		"compacting":        {[]string{row("compaction", `{"status":"running"}`)}, discover.Turn{State: discover.TurnOpen, Detail: "compacting"}},
		"claim released":    {[]string{v2Unclaim}, discover.Turn{State: discover.TurnDone}},
		"failed":            {[]string{strings.Replace(v2Interrupt, "interrupted", "failed", 1), row("idle", `{"outcome":"failed","error":{"type":"x","message":"too bad"}}`)}, discover.Turn{State: discover.TurnFailed, Error: "too bad"}},
		"no outcome so far": {[]string{v2Unclaim, `UPDATE session_v2 SET idle_outcome = NULL`, `DELETE FROM session_message`}, discover.Turn{}},
		"as OpenCode 1 left it": {
			[]string{v2Unclaim, `UPDATE session_v2 SET idle_outcome = NULL, time_idle = NULL, version = '1.18.33'`}, discover.Turn{State: discover.TurnInterrupted},
		},
		"unknown outcome": {[]string{v2Unclaim, `UPDATE session_v2 SET idle_outcome = 'evaporated'`}, discover.Turn{State: discover.TurnUnknown}},
	} {
		if name == "no outcome so far" {
			test.want.State = discover.TurnNone
		}
		got := v2Record(t, restoreV2(t, test.changes...), v2Claimed, discover.ReadOptions{}).Turn
		if got.State == discover.TurnWaiting && (got.WaitingOn == nil || got.WaitingOn.Brief != "Which port?") {
			t.Errorf("%s: waits on %+v", name, got.WaitingOn)
		}
		if isOpen := got.State == discover.TurnOpen || got.State == discover.TurnWaiting; isOpen && got.Began.IsZero() {
			t.Errorf("%s: it is not known when it began", name)
		}
		got.WaitingOn, got.OpenCall, got.Began = nil, nil, time.Time{} // the golden record has the call
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

// Newer columns and types of messages change nothing, older databases lack columns, and a schema without what is needed is a warning.
func TestV2Schemas(t *testing.T) {
	dir := restoreV2(t, `ALTER TABLE session_v2 ADD COLUMN claim_pid integer`, `ALTER TABLE session_message ADD COLUMN shard text`)
	if r := v2Record(t, dir, v2Finished, discover.ReadOptions{}); r.Turn.State != discover.TurnDone || r.Title == "" {
		t.Errorf("with more columns: %+v", r)
	}
	dir = restoreV2(t, `DROP TABLE session_inbox`, `DROP INDEX session_v2_time_suspended_idx`, `ALTER TABLE session_v2 DROP COLUMN time_suspended`,
		`ALTER TABLE session_v2 DROP COLUMN resume_attempts`, `ALTER TABLE session_v2 DROP COLUMN cost`)
	if r := v2Record(t, dir, v2Claimed, discover.ReadOptions{}); r.Turn.State != discover.TurnDone || r.Meta["queued"] != nil {
		t.Errorf("with fewer columns: %+v", r)
	}
	dir = restoreV2(t, `DROP INDEX session_message_session_seq_idx`, `DROP INDEX session_message_session_type_seq_idx`, `ALTER TABLE session_message DROP COLUMN seq`)
	_, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
	if oneWarning(t, err, filepath.Join(dir, "opencode.db")); !strings.Contains(err.Error(), "OpenCode 2") {
		t.Error(err)
	}
	// The sessions of OpenCode 1 in the same database are read all the same.
	dir = restore(t, "fdpos")
	execute(t, filepath.Join(dir, "opencode.db"), `CREATE TABLE session_v2 (id text PRIMARY KEY, title text)`)
	records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
	if len(records) == 0 || err == nil {
		t.Errorf("%d records, %v", len(records), err)
	}
}

// A home with both generations: a migrated session has one row, OpenCode 2's, whatever asks for it; the others are OpenCode 1's.
func TestV2Migrated(t *testing.T) {
	dir := restore(t, "fdpos")
	path := filepath.Join(dir, "opencode.db")
	before, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
	if err != nil || len(before) < 3 {
		t.Fatal(len(before), err)
	}
	twin := before[0].ID
	execute(t, path, opencode2.Schema, `INSERT INTO session_v2 (id, project_id, slug, directory, title, version, time_created, time_updated)
		SELECT id, project_id, slug, directory, 'migrated', version, time_created, time_updated FROM session WHERE id = '`+twin+`'`,
		`INSERT INTO session_message VALUES ('msg_1', '`+twin+`', 'user', 0, 1, 1, '{"text":"as migrated","time":{"created":1}}')`,
		`INSERT INTO session_message VALUES ('msg_2', '`+twin+`', 'assistant', 1, 2, 3, '{"content":[{"type":"text","text":"once"}],"finish":"stop","time":{"created":2,"completed":3}}')`)
	after, err := readRecords(t, homeOf(dir), discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
	if err != nil || len(after) != len(before) {
		t.Fatalf("%d rows, before %d: %v", len(after), len(before), err)
	}
	for _, r := range after {
		if isV2 := r.Meta["store"] == v2SessionTable; isV2 != (r.ID == twin) {
			t.Errorf("%s: store %v", r.ID, r.Meta["store"])
		}
	}
	r := v2Record(t, dir, twin, discover.ReadOptions{})
	if r.Title != "migrated" || r.Prompt != "as migrated" || r.Turn.State != discover.TurnDone || r.Version != before[0].Version {
		t.Errorf("%+v", r)
	}
	if messages, errs := messagesOf(t, r); len(errs) > 0 || len(messages) != 2 || messages[0].Text != "once" {
		t.Errorf("%d messages, %v", len(messages), errs)
	}
	entries, err := New().Entries(t.Context(), homeOf(dir), discover.EntryFilter{Refs: []discover.Ref{{ID: twin, Path: path}}})
	if err != nil || len(entries) != 1 {
		t.Errorf("as a reference: %d entries, %v", len(entries), err)
	}
	found := New().FilterContent(t.Context(), entries, func(json []byte) bool { return strings.Contains(string(json), "as migrated") })
	if len(found) != 1 {
		t.Error("the search does not read its messages")
	}
}

// A damaged message is a warning about the database; the others are shown, and the turn is unknown if it is the newest.
func TestV2Damage(t *testing.T) {
	dir := restoreV2(t, `UPDATE session_message SET data = substr(data, 1, 60) WHERE session_id = '`+v2Finished+`' AND seq = 13`)
	r := v2Record(t, dir, v2Finished, discover.ReadOptions{})
	messages, errs := messagesOf(t, r)
	if oneWarning(t, errors.Join(errs...), filepath.Join(dir, "opencode.db")); len(messages) != 4 {
		t.Errorf("%d messages", len(messages))
	}
	if r.Turn.State != discover.TurnDone {
		t.Errorf("turn %+v", r.Turn)
	}
}

// A fork has copies of the messages: they are shown, and not counted again. A command of the user, a summary, an unknown type and an
// interruption are shown in the order in which they were delivered.
func TestV2Messages(t *testing.T) {
	const fork = "ses_e07c00000ffe0000000000fork"
	add := func(seq int, kind, data string) string {
		return fmt.Sprintf(`INSERT INTO session_message VALUES ('msg_%d', '%s', '%s', %d, %d, 0, '%s')`, seq, fork, kind, seq, 1795166000000+seq, data)
	}
	dir := restoreV2(
		t, `INSERT INTO session_v2 (id, project_id, fork_session_id, slug, directory, version, time_created, time_updated)
			SELECT '`+fork+`', project_id, id, 'f', directory, version, 1795166000000, 1795166000000 FROM session_v2 WHERE id = '`+v2Finished+`'`,
		`INSERT INTO session_message SELECT id || '_' || seq, '`+fork+`', type, seq, time_created, time_updated, data FROM session_message WHERE session_id = '`+v2Finished+`'`,
		add(50, "shell", `{"shellID":"sh_1","command":"ls -l","status":"exited","exit":0,"output":{"output":"total 0"}}`),
		add(51, "compaction", `{"status":"completed","reason":"manual","summary":"They fixed it.","tokens":{"input":7,"output":2,"reasoning":0,"cache":{"read":0,"write":0}}}`),
		add(52, "hologram", `{"text":"from the future"}`),
		add(53, "system", `{"text":"for the model"}`),
		add(54, "user", `{"text":"","files":[{"mime":"image/png","name":"a.png"}]}`),
		add(55, "idle", `{"outcome":"interrupted"}`),
	)
	r := v2Record(t, dir, fork, whole)
	if r.ForkedFrom != v2Finished || r.Tokens == nil || r.Tokens.Total != 9 {
		t.Errorf("forked from %s, tokens %+v", r.ForkedFrom, r.Tokens)
	}
	messages, errs := messagesOf(t, r)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var got []string
	for _, m := range messages[:5] {
		text := fmt.Sprint(m.Role, " ", m.Kind, " ", m.Text)
		if m.Tool != nil {
			text += fmt.Sprint(m.Tool.Name, " ", m.Tool.Brief, " ", m.Tool.State, " ", m.Tool.Output)
		}
		got = append(got, text)
	}
	want := []string{
		"system interruption ", "user text [image]", "system text from the future", "system compaction They fixed it.", "user tool shell ls -l done total 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if unknown, err := New().Tried().UnknownKinds(t.Context(), r); err != nil || !slices.Equal(unknown, []string{"hologram"}) {
		t.Errorf("unknown types %q, %v", unknown, err)
	}
}

// v2Home is a data folder with the sessions of testdata/dumps/v2.sql, and the folder in which its service registers.
type v2Home struct{ dir, state string }

func newV2Home(t testing.TB, changes ...string) v2Home {
	t.Helper()
	return v2Home{restoreV2(t, changes...), mkdir(t, filepath.Join(t.TempDir(), "state", "opencode"))}
}

// process returns a process of OpenCode 2 in the home, which has no database open.
func (h v2Home) process(pid int, started time.Time, args ...string) proctest.Process {
	p := agent(pid, started, args...)
	p.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(h.dir), "XDG_STATE_HOME": filepath.Dir(h.state)}
	p.WorkingDir = "/home/dana/src/kettle"
	return p
}

// server returns a process that has the database open.
func (h v2Home) server(pid int, started time.Time, args ...string) proctest.Process {
	p := h.process(pid, started, append([]string{"serve"}, args...)...)
	p.Files = []proc.OpenFile{{FD: 9, Path: filepath.Join(h.dir, "opencode.db"), Writable: true}}
	return p
}

// secret is a password of which nothing may show a trace.
const secret = "correct-horse-battery"

// service returns a registered service.
func (h v2Home) service(t testing.TB, pid int, started time.Time) proctest.Process {
	t.Helper()
	writeFile(t, filepath.Join(h.state, "service.json"),
		fmt.Appendf(nil, `{"id":"u","version":"2.3.1","url":"http://127.0.0.1:49374","pid":%d,"password":%q}`, pid, secret))
	return h.server(pid, started, "--service")
}

// tool returns the process of a shell command that a server has started for a session.
func tool(pid, server int, session string) proctest.Process {
	p := agent(pid, time.Now())
	p.Name, p.Exe, p.Parent, p.Arguments = "bash", "/bin/bash", server, []string{"bash", "-c", "go test ./..."}
	p.Environ = map[string]string{sessionKey: session}
	return p
}

// correlated returns the sessions of the home, of a process table, by ID. Rows without one are under "".
func (h v2Home) correlated(t *testing.T, processes ...proctest.Process) map[string]discover.Session {
	t.Helper()
	table := proctest.NewTable(processes...)
	setup := discover.HomeSources{Getenv: func(string) string { return "" }}
	homes := New().Homes(setup, table)
	if len(processes) == 0 {
		homes = homeOf(h.dir)
	}
	claims, err := New().Claims(t.Context(), table, homes)
	if err != nil {
		t.Error(err)
	}
	if text := fmt.Sprintf("%+v", claims); strings.Contains(text, secret) {
		t.Errorf("the password is in %s", text)
	}
	records, err := readRecords(t, homeOf(h.dir), discover.EntryFilter{Subagents: true}, discover.ReadOptions{})
	if err != nil {
		t.Error(err)
	}
	out := map[string]discover.Session{}
	for _, s := range discover.Correlate(table, claims, records) {
		out[s.ID] = s
	}
	return out
}

// What is said of the claimed session: with a live service, with others, with none.
func TestV2Status(t *testing.T) {
	before, after := at(t, "09:00:00"), at(t, "09:30:00") // the turn began at 09:10:50, the last row was written at 09:11:01
	type table = func(v2Home) []proctest.Process
	service := func(started time.Time, more ...proctest.Process) table {
		return func(h v2Home) []proctest.Process { return append(more, h.service(t, 50, started)) }
	}
	servers := func(h v2Home) []proctest.Process {
		return []proctest.Process{h.service(t, 50, before), h.server(51, before)}
	}
	foreground := func(started time.Time) table {
		return func(h v2Home) []proctest.Process { return []proctest.Process{h.server(51, started, "--port", "0")} }
	}
	withOutput := func(h v2Home) []proctest.Process {
		p := h.service(t, 50, before)
		p.Files = append(p.Files, proc.OpenFile{FD: 20, Path: filepath.Join(h.dir, "shell", "5f1d", "sh_1.out"), Writable: true})
		return []proctest.Process{p}
	}
	terminal := func(h v2Home) []proctest.Process {
		return []proctest.Process{h.service(t, 50, before), h.process(60, before, "--session", v2Claimed)}
	}
	setAttempts := `UPDATE session_v2 SET resume_attempts = 1 WHERE id = '` + v2Claimed + `'`
	for name, test := range map[string]struct {
		changes []string
		table   table
		want    string // status, what it waits for, outcome, strength
	}{
		"its command runs":                    {nil, service(before, tool(70, 50, v2Claimed)), "running exact"},
		"its command has no process":          {nil, service(before), "waiting permission strong"},
		"the command of another session runs": {nil, service(before, tool(70, 50, v2Finished)), "waiting permission strong"},
		"output of a command is open":         {nil, withOutput, "running weak"},
		"question":                            {[]string{v2Question}, service(before), "waiting question strong"},
		"a call that may wait":                {[]string{v2Fetch}, service(before), "running weak"},
		"sub-agent":                           {[]string{v2Subagent}, service(before), "running strong"},
		"retry":                               {[]string{v2Retry}, service(before), "running strong"},
		"killed":                              {nil, func(v2Home) []proctest.Process { return nil }, "stopped interrupted"},
		"service started later":               {[]string{v2Retry}, service(after), "unknown"},
		"service has taken it up":             {[]string{v2Retry, setAttempts}, service(after), "running strong"},
		"two servers":                         {[]string{v2Retry}, servers, "unknown"},
		"server in the foreground":            {[]string{v2Retry}, foreground(before), "running strong"},
		"server in the foreground, started later, of which a client has changed settings": {
			[]string{v2Retry, `INSERT INTO session_message VALUES ('msg_s', '` + v2Claimed + `', 'model-switched', 41, 1795167900000, 1795167900000, '{}')`},
			foreground(after), "stopped interrupted",
		},
		"server in the foreground, prompted since": {
			[]string{`INSERT INTO session_message VALUES ('msg_s', '` + v2Claimed + `', 'user', 41, 1795167900000, 1795167900000, '{"text":"x"}')`}, foreground(after), "running strong",
		},
		"server in the foreground, started later": {[]string{v2Retry}, foreground(after), "stopped interrupted"},
		"declined":                          {[]string{v2Aborted(declinedCall)}, service(before), "stopped interrupted"},
		"declined, and a terminal shows it": {[]string{v2Aborted(declinedCall)}, terminal, "idle strong"},
		"ended":                             {[]string{v2Unclaim}, service(before), "stopped completed"},
		"ended, and a terminal shows it":    {[]string{v2Unclaim}, terminal, "idle strong"},
		"remote":                            {[]string{`UPDATE session_v2 SET workspace_id = 'wrk_1'`}, service(before), "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newV2Home(t, test.changes...)
			sessions := h.correlated(t, test.table(h)...)
			s := sessions[v2Claimed]
			got := strings.Join(strings.Fields(fmt.Sprint(s.Status, " ", s.WaitingFor, " ", s.Outcome)), " ")
			for _, e := range s.Evidence {
				if e.Accepted && !e.Client {
					got += " " + e.Strength.String()
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q: %s; evidence %+v", got, test.want, s.Reason, s.Evidence)
			}
			if other := sessions[v2Finished]; other.Status != discover.Stopped || other.Outcome != discover.Completed {
				t.Errorf("the other session is %s: %s", other.Status, other.Reason)
			}
			if row, ok := sessions[""]; ok {
				t.Errorf("a row of its own: %+v", row.Evidence)
			}
		})
	}
}

// A sub-agent that asks the user makes its parent wait.
func TestV2SubagentWaits(t *testing.T) {
	h := newV2Home(t, v2Question,
		`UPDATE session_v2 SET parent_id = '`+v2Finished+`' WHERE id = '`+v2Claimed+`'`,
		`UPDATE session_v2 SET time_suspended = 1795165850000 WHERE id = '`+v2Finished+`'`,
		`INSERT INTO session_message VALUES ('msg_z', '`+v2Finished+`', 'assistant', 90, 1795165850000, 1795165850000,
			'{"content":[{"type":"tool","id":"t","name":"subagent","state":{"status":"running","input":{}},"time":{"created":1795165850000}}],"time":{"created":1795165850000}}')`)
	s := h.correlated(t, h.service(t, 50, at(t, "09:00:00")))[v2Finished]
	if s.Status != discover.Waiting || s.WaitingFor != "question" || s.WaitingOn == nil {
		t.Errorf("%s, waiting for %q: %s", s.Status, s.WaitingFor, s.Reason)
	}
}

// The registration of a service that was killed is no evidence of a process that has got its pid. What has no claim of a service has the version
// that has stored it.
func TestV2Registration(t *testing.T) {
	h := newV2Home(t, v2Retry)
	s := h.correlated(t, h.service(t, 50, at(t, "09:00:00")))[v2Claimed]
	if s.Version != "2.3.1" || s.Source != "server" || !s.Shared || s.Dir != "/home/dana/src/kettle" {
		t.Errorf("version %s, source %s, shared %v, directory %s", s.Version, s.Source, s.Shared, s.Dir)
	}
	recycled := h.service(t, 50, time.Now().Add(time.Hour))
	if s := h.correlated(t, recycled)[v2Claimed]; s.Version == "2.3.1" {
		t.Error("the registration is older than the process")
	}
	writeFile(t, filepath.Join(h.state, "service-local.json"), []byte(`{"pid":50,"passw`))
	table := proctest.NewTable(h.server(50, at(t, "09:00:00"), "--service"))
	_, err := New().Claims(t.Context(), table, homeOf(h.dir))
	oneWarning(t, err, filepath.Join(h.state, "service-local.json"))
}

// Clients: a headless run shows the session that it names, or that its output names, or the one in its directory that has begun since. A terminal of which
// nothing is known is a row of unknown status.
func TestV2Clients(t *testing.T) {
	before := at(t, "09:00:00")
	h := newV2Home(t, v2Retry)
	for name, test := range map[string]struct {
		client proctest.Process
		want   bool
	}{
		"named":          {h.process(60, before, "run", "--session", v2Claimed, "x"), true},
		"in the folder":  {h.process(60, before, "run", "x"), true},
		"terminal there": {h.process(60, before), true},
		"started later":  {h.process(60, at(t, "09:20:00")), false},
		"of another one": {h.process(60, before, "--session", "ses_e07c7b9bfffeI1S9SMRpmZeRHj"), false},
		"of its own":     {h.process(60, before, "--standalone"), false},
		"of a server":    {h.process(60, before, "--server", "http://127.0.0.1:1234"), false},
	} {
		sessions := h.correlated(t, h.service(t, 50, before), test.client)
		if n := len(sessions[v2Claimed].Clients); (n == 1) != test.want {
			t.Errorf("%s: %d clients", name, n)
		}
		row, ok := sessions[""]
		if ok == test.want || ok && (row.Status != discover.Unknown || row.Dir == "" || !row.NameOnly) {
			t.Errorf("%s: a row of its own: %v, %+v", name, ok, row)
		}
	}
	if row := h.correlated(t, h.process(60, before, "run", "x"))[""]; row.Status != discover.Running {
		t.Errorf("a run without a service is %s", row.Status)
	}
	if rows := h.correlated(t, h.process(60, before, "service", "status"), h.process(61, before, "api", "get", "/")); rows[""].Record != nil {
		t.Errorf("short commands: %+v", rows[""])
	}
}

// What tells OpenCode 1 and 2 apart, in a home that has sessions of both. The name of the program is the same.
func TestGenerations(t *testing.T) {
	dir := restore(t, "fdpos")
	execute(t, filepath.Join(dir, "opencode.db"), opencode2.Schema)
	h := v2Home{dir, mkdir(t, filepath.Join(t.TempDir(), "state", "opencode"))}
	start := at(t, "19:26:50")
	installed := func(p proctest.Process, name string) proctest.Process {
		root := t.TempDir()
		writeFile(t, filepath.Join(root, "package.json"), []byte(`{"name":"`+name+`","version":"2.0.26"}`))
		p.Exe = filepath.Join(mkdir(t, filepath.Join(root, "bin")), "opencode")
		return p
	}
	byLog := withLog(agent(16703, start, "run", "[[bash sleep 20; true;;text fin]]"), dir, 20219)
	for name, test := range map[string]struct {
		processes []proctest.Process // the first one is asked for
		want      string             // the status of its row, and its reason
	}{
		"package of OpenCode 2": {[]proctest.Process{installed(h.process(60, start), "@opencode/cli-linux-x64")}, "terminal of OpenCode 2"},
		"package of OpenCode 1": {[]proctest.Process{installed(h.process(60, start), "opencode-linux-x64")}, "idle"},
		"arguments":             {[]proctest.Process{h.process(60, start, "--standalone")}, "terminal of OpenCode 2"},
		"the binary of the service": {
			[]proctest.Process{h.process(60, start), h.service(t, 50, start)}, "terminal of OpenCode 2",
		},
		"nothing":              {[]proctest.Process{h.process(60, start)}, "it is OpenCode 1 or 2"},
		"a line of OpenCode 1": {[]proctest.Process{byLog}, "ses_e0592f1c3fferjqNVsEgBbvV83"},
	} {
		t.Run(name, func(t *testing.T) {
			table := proctest.NewTable(test.processes...)
			claims, err := New().Claims(t.Context(), table, homeOf(dir))
			if err != nil {
				t.Error(err)
			}
			found := false
			for _, s := range discover.Correlate(table, claims) {
				if !s.HasProcess(test.processes[0].ID) {
					continue
				}
				got := fmt.Sprint(s.Status, " ", s.ID, " ", s.Reason)
				if found = strings.Contains(got, test.want); !found {
					t.Errorf("got %q, want %q", got, test.want)
				}
			}
			if !found {
				t.Errorf("no row; claims %+v", claims)
			}
		})
	}
	log := filepath.Join(dir, "log", "opencode.log")
	line := "timestamp=2026-11-20T19:26:51.000Z level=INFO run=aaaaaaaa role=cli message=\"cli starting\"\n"
	writeFile(t, log, []byte(line))
	p := withLog(h.process(61, start), dir, int64(len(line)))
	p.Files = p.Files[1:] // a client has no database open
	table := proctest.NewTable(p)
	claims, err := New().Claims(t.Context(), table, homeOf(dir))
	if err != nil || len(claims) != 1 || !strings.Contains(claims[0].Unreadable, "terminal of OpenCode 2") {
		t.Errorf("a line of OpenCode 2: %+v, %v", claims, err)
	}
}
