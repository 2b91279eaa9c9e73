package opencode

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"agentctl/discover"
)

// inProgress makes a data folder with one session, whose turn began at a time and has not ended, and a log with a line about it of the run
// e5f72788 at another time.
func inProgress(t *testing.T, prompted, logged time.Time, line string) (dir string, end int64) {
	t.Helper()
	dir = mkdir(t, filepath.Join(t.TempDir(), "opencode"))
	execute(t, filepath.Join(dir, "opencode.db"),
		"create table session(id text primary key, parent_id, directory, time_created, time_updated)",
		"create table message(id text primary key, session_id text, time_created, time_updated, data)",
		"create table part(id text primary key, message_id text, time_updated, data)",
		fmt.Sprintf("insert into session values ('ses_1', '', '/x', %[1]d, %[1]d)", prompted.UnixMilli()),
		fmt.Sprintf(`insert into message values ('msg_1', 'ses_1', %[1]d, 0, '{"role":"user","time":{"created":%[1]d}}')`, prompted.UnixMilli()))
	log := fmt.Sprintf("timestamp=%s level=INFO run=e5f72788 %s\n", logged.UTC().Format("2006-01-02T15:04:05.000Z"), line)
	writeFile(t, filepath.Join(mkdir(t, filepath.Join(dir, "log")), "opencode.log"), []byte(log))
	return dir, int64(len(log))
}

// An agent whose requests the API refuses tries again forever. Only the log says why.
func TestRetrying(t *testing.T) {
	asked := at(t, "19:20:01")
	dir, end := inProgress(t, asked, asked.Add(time.Second), `message="stream error" session.id=ses_1 small=false error.error="E: status 429"`)
	claims := claimed(t, withLog(agent(1, asked.Add(-time.Minute), "run", "x"), dir, end))[1]
	if len(claims) != 2 || claims[1].Turn == nil || claims[1].Turn.State != discover.TurnOpen || claims[1].Turn.Detail != "retrying: status 429" {
		t.Errorf("claims %+v", claims)
	}
}

// A session that waits for the user goes on waiting when it is sent a message. What a process that is gone has left open does not count.
func TestWaitsDespiteAMessage(t *testing.T) {
	asked := at(t, "19:20:01")
	for name, c := range map[string]struct {
		tool  string
		start time.Time // of the process
		want  discover.TurnState
	}{
		"question":             {`"question","state":{"status":"running","input":{"questions":[{"question":"Which?"}]}`, asked.Add(-time.Minute), discover.TurnWaiting},
		"tool":                 {`"grep","state":{"status":"running","input":{}`, asked.Add(-time.Minute), discover.TurnOpen},
		"an earlier process's": {`"question","state":{"status":"running","input":{"questions":[{"question":"Which?"}]}`, asked.Add(time.Second), discover.TurnNone},
	} {
		dir, end := inProgress(t, asked, asked.Add(time.Second), "message=loop session.id=ses_1")
		execute(t, filepath.Join(dir, "opencode.db"),
			fmt.Sprintf(`insert into message values ('msg_2', 'ses_1', %[1]d, 0, '{"role":"assistant","time":{"created":%[1]d}}')`, asked.UnixMilli()+5),
			fmt.Sprintf(`insert into part values ('prt_2', 'msg_2', 0, '{"type":"tool","tool":%s,"time":{"start":%d}}}')`, c.tool, asked.UnixMilli()+6),
			fmt.Sprintf(`insert into message values ('msg_3', 'ses_1', %[1]d, 0, '{"role":"user","time":{"created":%[1]d}}')`, asked.UnixMilli()+3000))
		claims := claimed(t, withLog(agent(1, c.start, "serve"), dir, end))[1]
		if len(claims) != 2 {
			t.Fatalf("%s: %+v", name, claims)
		}
		var got discover.Turn
		if claims[1].Turn != nil {
			got = *claims[1].Turn
		}
		if c.want == discover.TurnNone && claims[1].Turn != nil || c.want != discover.TurnNone && (got.State != c.want || !got.Began.Equal(asked.Add(5*time.Millisecond))) {
			t.Errorf("%s: turn %+v, want %v", name, got, c.want)
		}
	}
}
