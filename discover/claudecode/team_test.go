package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

const (
	teamName = "session-77163742"
	lead     = "a0475f8e-17d7-4380-b79f-f3cf2e161ebb"
	mate     = "34ec97dd-7851-48bc-9196-abb079c99c8f"
)

// teammateRecords are the records of a teammate: what it was told and, if it has answered, what it said.
func teammateRecords(at time.Time, id string, sidechain, answered bool) string {
	envelope := fmt.Sprintf(`"isSidechain":%t,"timestamp":%q,"cwd":"/w","sessionId":%q,"version":"2.1.332","entrypoint":"cli"`, sidechain, at.UTC().Format(time.RFC3339Nano), id)
	if !sidechain {
		envelope += fmt.Sprintf(`,"teamName":%q,"agentName":"mate"`, teamName)
	}
	text := `{"type":"user","uuid":"1",` + envelope + `,"message":{"content":"<teammate-message teammate_id=\"team-lead\">\nfirst words\n</teammate-message>"}}` + "\n"
	if answered {
		text += `{"type":"assistant","parentUuid":"1","uuid":"2",` + envelope + `,"message":{"stop_reason":"end_turn","content":[{"type":"text","text":"done"}]}}` + "\n"
	}
	return text
}

func writeAt(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o600))
	must(t, os.Chtimes(path, at, at))
}

// A teammate in a pane of tmux has no registry entry. Its command line and its records name it.
func TestTeammateInATerminal(t *testing.T) {
	dir := t.TempDir()
	f := native329(500, 5000, dir, "/w", "--agent-id", "mate@"+teamName, "--agent-name", "mate", "--team-name", teamName,
		"--agent-color", "blue", "--parent-session-id", lead, "--permission-mode", "default")
	f.Environ = map[string]string{configKey: dir}
	writeKey(t, dir, 500, f.Started.Add(time.Second))
	renamed := f
	renamed.Exe, renamed.Name = "/opt/foo", "foo"
	renamed.Arguments = append([]string{"foo"}, f.Arguments[1:]...)
	both := func(when string, check func(got []discover.Claim) bool) {
		t.Helper()
		for _, f := range []proc.FakeProcess{f, renamed} {
			if got := claims(t, dir, f); len(got) == 0 || got[0].NameOnly || got[0].Parent != lead || got[0].Team != teamName || got[0].Title != "mate" || !check(got) {
				t.Errorf("%s, %s: %+v", when, f.Exe, got)
			}
		}
	}
	both("before its first turn", func(got []discover.Claim) bool { return len(got) == 1 })
	path := transcriptPath(dir, "/w", mate)
	writeAt(t, path, teammateRecords(f.Started, mate, false, true), f.Started.Add(-time.Second))
	both("an earlier teammate of its name", func(got []discover.Claim) bool { return len(got) == 1 })
	writeAt(t, transcriptPath(dir, "/w", alive), minimal, f.Started.Add(time.Hour))
	at := f.Started.Add(time.Minute)
	writeAt(t, path, teammateRecords(at, mate, false, true), at)
	both("idle", func(got []discover.Claim) bool {
		c := got[len(got)-1]
		return len(got) == 2 && c.Session == mate && c.Path == path && c.Strength == discover.Strong && c.Parent == lead && c.Turn == nil
	})
	// 2.1.197 has no key.
	must(t, os.RemoveAll(filepath.Join(dir, sessionsName)))
	if got := claims(t, dir, f); len(got) != 2 || got[0].NameOnly || got[1].Session != mate {
		t.Errorf("without a key: %+v", got)
	}
	if got := claims(t, dir, renamed); len(got) != 0 {
		t.Errorf("under another name, without a key: %+v", got)
	}
	// It is no sub-agent, and what the lead has told it is not the user's.
	all, _ := records(t, dir, discover.EntryFilter{ID: mate}, discover.ReadOptions{Full: true})
	if len(all) != 1 || all[0].IsSubagent() || all[0].Team != teamName || all[0].Title != "mate" || all[0].Prompt != "" || all[0].Meta.Get("turns") != 0 {
		t.Errorf("records %+v", all)
	}
}

// A teammate that is a sub-agent is alive as long as the team has it: its metadata file does not record its end.
func TestTeammateInTheProcess(t *testing.T) {
	dir := t.TempDir()
	f := native329(500, 5000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	at := f.Started.Add(time.Minute)
	writeEntry(t, dir, 500, fmt.Sprintf(`"sessionId":%q,"procStart":"5000","version":"2.1.332","status":"idle"`, lead))
	session := transcriptPath(dir, "/w", lead)
	writeAt(t, session, minimal, at)
	write := func(id string, answered bool, at time.Time) string {
		path := filepath.Join(subagentDir(session), id+transcriptSuffix)
		writeAt(t, path, teammateRecords(at, lead, true, answered), at)
		writeAt(t, metaPath(path), fmt.Sprintf(`{"agentType":"mate","description":"do part one","name":"mate","requestShape":"background","taskKind":%q,"teamName":%q}`, taskInProcess, teamName), at)
		return path
	}
	team := func(pid int, ticks string, teammates ...string) {
		text := ""
		for _, m := range append([]string{"team-lead"}, teammates...) {
			text += fmt.Sprintf(`,{"name":%q,"backendType":"in-process"}`, m)
		}
		writeAt(t, filepath.Join(dir, teamsName, teamName, teamConfig), fmt.Sprintf(
			`{"name":%q,"leadSessionId":%q,"leadProcess":{"pid":%d,"procStart":%q},"members":[%s]}`, teamName, alive, pid, ticks, text[1:],
		), at)
	}
	teammates := func() (out []discover.Claim) {
		for _, c := range sessions(claims(t, dir, f)) {
			if c.Session != lead {
				out = append(out, c)
			}
		}
		return out
	}
	write("agent-amate-00", true, at) // has been sent away
	path := write("agent-amate-01", false, at.Add(time.Minute))
	team(500, "5000", "mate")
	if got := teammates(); len(got) != 1 || got[0].Path != path || got[0].Kind != "team" || got[0].Strength != discover.Exact || got[0].Turn == nil || got[0].Turn.State != discover.TurnOpen {
		t.Errorf("at work: %+v", got)
	}
	write("agent-amate-01", true, at.Add(time.Minute))
	if got := teammates(); len(got) != 1 || got[0].Path != path || got[0].Turn != nil {
		t.Errorf("idle: %+v", got)
	}
	all, _ := records(t, dir, discover.EntryFilter{ID: "agent-amate-01", Subagents: true}, discover.ReadOptions{})
	if len(all) != 1 || !all[0].IsSubagent() || all[0].Parent != lead || all[0].Team != teamName || all[0].Title != "mate" {
		t.Errorf("records %+v", all)
	}
	for when, write := range map[string]func(){
		"sent away":                      func() { team(500, "5000") },
		"the team of another process":    func() { team(501, "5000", "mate") },
		"the team of an earlier process": func() { team(500, "4999", "mate") },
		"no team":                        func() { must(t, os.RemoveAll(filepath.Join(dir, teamsName))) },
	} {
		if write(); len(teammates()) != 0 {
			t.Errorf("%s: %+v", when, teammates())
		}
	}
}

// A session that leads a team with teammates in terminals says that it is busy, whatever it does. Its transcript tells.
func TestLeadOfATeamIsNotAlwaysBusy(t *testing.T) {
	dir := t.TempDir()
	f := native329(500, 5000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	writeAt(t, transcriptPath(dir, "/w", lead), minimal, f.Started.Add(time.Minute))
	writeEntry(t, dir, 500, fmt.Sprintf(`"sessionId":%q,"procStart":"5000","version":"2.1.332","status":"busy"`, lead))
	for backend, open := range map[string]bool{inProcess: true, "tmux": false} {
		writeAt(t, filepath.Join(dir, teamsName, teamName, teamConfig), fmt.Sprintf(
			`{"name":%q,"leadProcess":{"pid":500,"procStart":"5000"},"members":[{"name":"mate","backendType":%q}]}`, teamName, backend,
		), f.Started)
		got := sessions(claims(t, dir, f))
		if len(got) != 1 || (got[0].Turn != nil) != open {
			t.Errorf("%s: %+v", backend, got)
		}
	}
}
