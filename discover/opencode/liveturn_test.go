package opencode

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// inProgress is a home with one session, whose turn was asked for at that moment and has no end, and with a log in which
// the run e5f72788 says something of it.
func inProgress(t *testing.T, asked, said time.Time, words string) (dir string, end int64) {
	t.Helper()
	dir = mkdir(t, filepath.Join(t.TempDir(), "opencode"))
	execute(t, filepath.Join(dir, "opencode.db"),
		"create table session(id text primary key, parent_id, directory, time_created, time_updated)",
		"create table message(id text primary key, session_id text, time_created, time_updated, data)",
		"create table part(id text primary key, message_id text, time_updated, data)",
		fmt.Sprintf("insert into session values ('ses_1', '', '/x', %[1]d, %[1]d)", asked.UnixMilli()),
		fmt.Sprintf(`insert into message values ('msg_1', 'ses_1', %[1]d, 0, '{"role":"user","time":{"created":%[1]d}}')`, asked.UnixMilli()))
	log := fmt.Sprintf("timestamp=%s level=INFO run=e5f72788 %s\n", said.UTC().Format("2006-01-02T15:04:05.000Z"), words)
	writeFile(t, filepath.Join(mkdir(t, filepath.Join(dir, "log")), "opencode.log"), []byte(log))
	return dir, int64(len(log))
}

// An agent whose requests the API refuses tries again forever. Only the log says why.
func TestRetrying(t *testing.T) {
	asked := at(t, "19:20:01")
	dir, end := inProgress(t, asked, asked.Add(time.Second), `message="stream error" session.id=ses_1 small=false error.error="E: status 429"`)
	claims := claimed(t, keeping(agent(1, asked.Add(-time.Minute), "run", "x"), dir, end))[1]
	if len(claims) != 2 || claims[1].Turn == nil || claims[1].Turn.State != discover.TurnOpen || claims[1].Turn.Detail != "retrying: status 429" {
		t.Errorf("claims %+v", claims)
	}
}

// If the log of the only process does not have the beginning of a turn, a process that is gone has begun it.
func TestTurnOfAnotherProcess(t *testing.T) {
	const ended = `message="exiting loop" session.id=ses_1`
	old, fresh := time.Now().Add(-time.Hour), time.Now().Add(-maxLogDelay/2)
	for name, test := range map[string]struct {
		asked  time.Time
		said   time.Duration // after that
		words  string
		others [][]string
		over   bool
	}{
		"another's":              {old, -time.Minute, ended, nil, true},
		"said a moment later":    {fresh, -time.Minute, ended, nil, false},
		"its own":                {old, time.Second, "message=loop session.id=ses_1", nil, false},
		"given while it worked":  {old, -time.Minute, "message=loop session.id=ses_1", nil, false},
		"another's who lives":    {old, -time.Minute, ended, [][]string{{"-s", "ses_1"}}, false},
		"another's who may live": {old, -time.Minute, ended, [][]string{{"run", "-c", "x"}}, false},
	} {
		dir, end := inProgress(t, test.asked, test.asked.Add(test.said), test.words)
		facts := []proc.FakeProcess{keeping(agent(1, test.asked.Add(-time.Hour)), dir, end)}
		elsewhere := keeping(agent(9, test.asked.Add(-time.Minute), "run", "x"), mkdir(t, filepath.Join(t.TempDir(), "opencode")), 0)
		facts = append(facts, elsewhere)
		for i, args := range test.others {
			facts = append(facts, keeping(agent(10+i, test.asked.Add(-time.Minute), args...), dir, 0))
		}
		claims := claimed(t, facts...)[1]
		if len(claims) != 2 {
			t.Fatalf("%s: %+v", name, claims)
		}
		if over := claims[1].Turn != nil && claims[1].Turn.State == discover.TurnInterrupted; over != test.over {
			t.Errorf("%s: %+v", name, claims[1].Turn)
		}
	}
}
