package render_test

import (
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/proc"
)

// now is the time of all tests.
var now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// completeSession has every fact.
func completeSession() discover.Session {
	cost, used := 1.25, 87.4
	process := proc.Process{ID: proc.ID{PID: 4711, Birth: "b/1"}, Started: now.Add(-2 * time.Hour)}
	second := proc.Process{ID: proc.ID{PID: 4712, Birth: "b/2"}, Started: now.Add(-time.Hour)}
	return discover.Session{
		Record: &discover.Record{
			Agent: "codex", ID: "01a1fa5c-c285-7d91-bd0a-842a7d8b5424",
			Path: "/home/me/.codex/sessions/r.jsonl", Home: "/home/me/.codex", Dir: "/home/me/repo",
			Title: "mend the parser", Prompt: "please mend the parser", Model: "gpt-5.5", Branch: "main",
			Version: "0.169.0", Source: "exec",
			Created: now.Add(-3 * time.Hour), Updated: now.Add(-90 * time.Second),
			Turn:   discover.Turn{State: discover.TurnWaiting, WaitingFor: "permission", Detail: "tool: shell"},
			Tokens: &discover.Tokens{In: 1, Out: 2, CacheRead: 3, CacheWrite: 4, Reasoning: 5, Total: 6, Context: 7},
			Cost:   &cost, Parent: "01a1fa5c-0000", ForkedFrom: "01a1fa5c-1111", Archived: true,
			Quotas: []discover.Quota{
				{Name: "primary", Used: &used, Resets: now.Add(38 * time.Minute), Time: now.Add(-90 * time.Second)},
				{Reached: true, Text: "You've hit your limit\x1b[31m", Resets: now.Add(-26 * time.Hour)},
			},
			Meta: discover.Facts{"originator": "codex_exec", "ports": []int{4096}},
		},
		Status: discover.Waiting, WaitingFor: "permission", WaitingOn: &discover.WaitingOn{Tool: "shell", Brief: "make", Path: "/x", Questions: []string{"Go on?"}, Diff: &discover.Diff{Added: 3, Removed: new(1)}}, Error: "the last turn failed",
		Reason:    "processes 4711, 4712 are live; process 4711 shows that the turn is blocked on the user",
		Processes: []proc.Process{process, second}, Group: "g-1", Shared: true,
		Evidence: []discover.Evidence{
			{Claim: discover.Claim{
				Process: process.ID, Session: "01a1fa5c-c285-7d91-bd0a-842a7d8b5424", Strength: discover.Exact,
				Kind: "writer-lock", Detail: "/home/me/.codex/thread-writer-locks/x.lock", Turn: &discover.Turn{State: discover.TurnWaiting},
			}, Accepted: true, Why: "confirmed by the agent or the kernel"},
			{Claim: discover.Claim{Process: second.ID, Session: "x", Strength: discover.Weak, Kind: "cwd", Detail: "/home/me/repo"}, Why: "ambiguous"},
		},
	}
}

// stoppedSession has few facts.
func stoppedSession() discover.Session {
	return discover.Session{
		Record:  &discover.Record{Agent: "claude-code", ID: "88d1d394-0000-4000-8000-000000000000", Updated: now.Add(-49 * time.Hour)},
		Status:  discover.Stopped,
		Outcome: discover.Completed,
		Reason:  "no live process runs it; its last stored turn has ended",
	}
}

// unidentifiedSession is a live agent process whose session is unknown.
func unidentifiedSession() discover.Session {
	process := proc.Process{ID: proc.ID{PID: 99, Birth: "b/9"}}
	return discover.Session{
		Record: &discover.Record{Agent: "opencode"}, Status: discover.Unknown, Processes: []proc.Process{process},
		Reason: "process 99 is live, and nothing names its session; what process 99 does is not known: open files: permission denied",
		Evidence: []discover.Evidence{{
			Claim: discover.Claim{Process: process.ID, Unreadable: "open files: permission denied"}, Accepted: true, Why: "a live process",
		}},
	}
}

// exampleObject is the complete session; it runs a server and another agent, and has changed files.
func exampleObject() object.Session {
	tenth, minutes, hours := 0.1, 72.5, 3*3600+300.0
	small, large, huge := int64(512), int64(4<<20+100), int64(1<<31)
	ahead, behind := 2, 0
	s := object.NewSession(completeSession())
	s.Changes = &object.Changes{Changed: 3, Untracked: 1, Upstream: "origin/main", Ahead: &ahead, Behind: &behind}
	s.Processes = []object.Process{
		{PID: 4711, PPID: 4700, Name: "codex", Command: "codex exec", StartedAt: object.Timestamp(now.Add(-2 * time.Hour)), CPU: &hours, Memory: &huge, Shared: true},
		{PID: 4720, PPID: 4711, Name: "bash", Command: "bash -c 'npm run dev\n\x1b[2J'", StartedAt: object.Timestamp(now.Add(-time.Minute)), CPU: &tenth, Memory: &small},
		{PID: 4723, PPID: 4720, Name: "node", StartedAt: object.Timestamp(now), CPU: &minutes, Memory: &large, Ports: []int{3000, 9229}},
		{PID: 4730, PPID: 4711, Name: "claude", Command: "claude", Adapter: "claude-code", Sessions: []string{"88d1d394-0000-4000-8000-000000000000"}},
		{PID: 4740, PPID: 1, Name: "sshd"},
	}
	return s
}

// objectsOf are the JSON objects of sessions.
func objectsOf(sessions ...discover.Session) (out []object.Session) {
	for _, s := range sessions {
		out = append(out, object.NewSession(s))
	}
	return out
}
