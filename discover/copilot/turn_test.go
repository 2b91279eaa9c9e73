package copilot

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/discover"
)

// lines makes records: "type {data}", after "agent@" a sub-agent's. Each follows the one before, unless "id<parent " says otherwise.
func lines(records ...string) []byte {
	var b strings.Builder
	b.WriteString(`{"type":"session.start","data":{"copilotVersion":"1.0.102","startTime":"2026-11-26T12:00:00.000Z","context":{"cwd":"/srv/w","branch":"main"}},"id":"r0","timestamp":"2026-11-26T12:00:00.000Z","parentId":null}` + "\n")
	for i, r := range records {
		id, parent, agent := fmt.Sprintf("r%d", i+1), fmt.Sprintf("r%d", i), ""
		if chain, rest, ok := strings.Cut(r, " "); ok && strings.Contains(chain, "<") {
			id, parent, _ = strings.Cut(chain, "<")
			r = rest
		}
		if name, rest, ok := strings.Cut(r, "@"); ok && !strings.ContainsAny(name, " {") {
			agent, r = `,"agentId":"`+name+`"`, rest
		}
		kind, data, _ := strings.Cut(r, " ")
		if kind == damagedEvent {
			b.WriteString(`{"type":"assis` + "\n")
			continue
		}
		if data == "" {
			data = "{}"
		}
		fmt.Fprintf(&b, `{"type":%q,"data":%s,"id":%q,"timestamp":"2026-11-26T12:00:%02d.000Z","parentId":%q%s}`+"\n", kind, data, id, i+1, parent, agent)
	}
	return []byte(b.String())
}

const (
	asked   = `user.message {"content":"do it"}`
	starts  = `assistant.turn_start`
	answers = `assistant.message {"content":"done","toolRequests":[]}`
	calls   = `assistant.message {"content":"","toolRequests":[{"toolCallId":"c1","name":"bash","arguments":{"command":"make"}}]}`
	begins  = `tool.execution_start {"toolCallId":"c1","toolName":"bash","arguments":{"command":"make"}}`
	ends    = `tool.execution_complete {"toolCallId":"c1","success":true,"result":{"content":"ok"}}`
	over    = `assistant.turn_end`
	closed  = `session.shutdown {"shutdownType":"routine"}`
	cut     = `abort {"reason":"user_initiated"}`
	wants   = `permission.requested {"requestId":"p1","permissionRequest":{"kind":"shell","toolCallId":"c1","fullCommandText":"make install"}}`
	decided = `permission.completed {"requestId":"p1","result":{"kind":"approved"}}`
	resumed = `session.resume {"context":{"cwd":"/srv/w2","branch":"topic"},"alreadyInUse":false}`
)

func TestTurn(t *testing.T) {
	tests := map[string]struct {
		records []string
		want    discover.TurnState
		waiting string // what it waits on
		began   int    // seconds
	}{
		"nothing was asked":                         {nil, discover.TurnNone, "", -1},
		"asked":                                     {[]string{asked}, discover.TurnOpen, "", 1},
		"answered":                                  {[]string{asked, starts, answers, over}, discover.TurnDone, "", 1},
		"a call's end is not the turn's":            {[]string{asked, starts, calls, begins, ends, over}, discover.TurnOpen, "", 1},
		"answered after a call":                     {[]string{asked, starts, calls, begins, ends, over, starts, answers, over}, discover.TurnDone, "", 1},
		"interrupted":                               {[]string{asked, starts, cut, over}, discover.TurnInterrupted, "", 1},
		"interrupted after the end of the call":     {[]string{asked, starts, over, cut}, discover.TurnInterrupted, "", 1},
		"1.0.12: interrupted after the shutdown":    {[]string{asked, starts, closed, cut}, discover.TurnInterrupted, "", 1},
		"closed in mid-turn":                        {[]string{asked, starts, calls, begins, wants, closed}, discover.TurnInterrupted, "", 1},
		"closed after the turn":                     {[]string{asked, starts, answers, over, closed}, discover.TurnDone, "", 1},
		"failed":                                    {[]string{asked, starts, over, `session.error {"message":"401"}`, closed}, discover.TurnFailed, "", 1},
		"asked again after a failure":               {[]string{asked, `session.error {"message":"401"}`, asked}, discover.TurnOpen, "", 3},
		"permission":                                {[]string{asked, starts, calls, begins, wants}, discover.TurnWaiting, "make install", 1},
		"permission was given":                      {[]string{asked, starts, calls, begins, wants, decided}, discover.TurnOpen, "", 1},
		"a sub-agent's permission":                  {[]string{asked, starts, calls, begins, "s@subagent.started", "s@" + wants}, discover.TurnWaiting, "make install", 1},
		"a sub-agent in the background":             {[]string{asked, starts, answers, "s@subagent.started", over, "s@" + asked}, discover.TurnOpen, "", 1},
		"a sub-agent has ended":                     {[]string{asked, starts, answers, "s@subagent.started", over, "s@subagent.completed"}, discover.TurnDone, "", 1},
		"a sub-agent's turn":                        {[]string{asked, starts, calls, begins, "s@" + starts, "s@" + answers, "s@" + over}, discover.TurnOpen, "", 1},
		"woken by a notification":                   {[]string{asked, answers, over, "system.notification", starts}, discover.TurnOpen, "", 5},
		"steered":                                   {[]string{asked, starts, `user.message {"content":"also","delivery":"steering"}`}, discover.TurnOpen, "", 1},
		"killed, then resumed":                      {[]string{asked, starts, calls, begins, resumed}, discover.TurnInterrupted, "", 1},
		"killed at a dialog, then resumed":          {[]string{asked, starts, calls, begins, wants, resumed, asked}, discover.TurnOpen, "", 7},
		"a client has joined":                       {[]string{asked, starts, calls, begins, wants, `session.resume {"sessionWasActive":true}`}, discover.TurnWaiting, "make install", 1},
		"a damaged record":                          {[]string{asked, starts, damagedEvent}, discover.TurnUnknown, "", -1},
		"a damaged record before the prompt":        {[]string{damagedEvent, asked, starts, answers, over}, discover.TurnDone, "", 2},
		"a damaged record, and the end of the turn": {[]string{asked, damagedEvent, answers, over}, discover.TurnDone, "", -1},
		"another process has a turn too": {[]string{
			"a1<r0 " + asked, "a2<a1 " + starts, `b1<a2 session.resume {"alreadyInUse":true}`, "b2<b1 " + asked, "b3<b2 " + answers, "b4<b3 " + over, "b5<b4 " + closed,
		}, discover.TurnOpen, "", 1},
		"another process has ended, and the first goes on": {[]string{
			"a1<r0 " + asked, "a2<a1 " + starts, `b1<a2 session.resume {"alreadyInUse":true}`, "b2<b1 " + asked, "a3<a2 " + answers, "b3<b2 " + answers,
			"b4<b3 " + over, "a4<a3 " + over, "b5<b4 " + closed,
		}, discover.TurnDone, "", 4},
		"the first process asks again": {[]string{
			"a1<r0 " + asked, "a2<a1 " + answers, "a3<a2 " + over, `b1<a3 session.resume {"alreadyInUse":true}`, "b2<b1 " + asked, "a4<a3 " + asked, "a5<a4 " + answers, "a6<a5 " + over,
		}, discover.TurnOpen, "", 5},
	}
	for name, test := range tests {
		u, err := parse(t, lines(test.records...), workspace{})
		brief := ""
		if on := u.Turn.WaitingOn; on != nil {
			brief = on.Brief
		}
		began := -1
		if !u.Turn.Began.IsZero() {
			began = u.Turn.Began.Second()
		}
		if err != nil || u.Turn.State != test.want || brief != test.waiting || began != test.began {
			t.Errorf("%s: %+v, began %d, %v; want %d %q, began %d", name, u.Turn, began, err, test.want, test.waiting, test.began)
		}
	}
}

// Questions and the approval of a plan wait for an answer; a request names what it is about.
func TestWaitingOn(t *testing.T) {
	for records, want := range map[string]string{
		`tool.execution_start {"toolCallId":"q","toolName":"ask_user","arguments":{"message":"Which?"}}`:                                                                                      "question ask_user Which?",
		`tool.execution_start {"toolCallId":"q","toolName":"exit_plan_mode","arguments":{"summary":"do X"}}`:                                                                                  "question exit_plan_mode do X",
		`permission.requested {"requestId":"p","permissionRequest":{"kind":"write","fileName":"/a/b","diff":"\ndiff --git\n--- a/dev/null\n+++ b/x\n@@ -1,0 +1,2 @@\n+a\n+b\n-c\n"}}`:         "permission write /a/b +2 -1 /a/b",
		`permission.requested {"requestId":"p","permissionRequest":{"kind":"read","path":"/etc/x"}}`:                                                                                          "permission read /etc/x /etc/x",
		`permission.requested {"requestId":"p","permissionRequest":{"kind":"url","url":"https://x.test/"}}`:                                                                                   "permission url https://x.test/",
		`permission.requested {"requestId":"p","permissionRequest":{"kind":"mcp","serverName":"lab","toolName":"look"}}`:                                                                      "permission mcp lab: look",
		`permission.requested {"requestId":"p","permissionRequest":{"kind":"memory","intention":"keep a fact"}}`:                                                                              "permission memory keep a fact",
		`permission.requested {"requestId":"p","permissionRequest":{"kind":"shell","fullCommandText":"a"}}` + "|" + strings.Replace(strings.Replace(wants, "p1", "p2", 1), "install", "2", 1): "permission shell a",
	} {
		u, err := parse(t, lines(append([]string{asked}, strings.Split(records, "|")...)...), workspace{})
		on := u.Turn.WaitingOn
		if err != nil || on == nil {
			t.Errorf("%s: %+v, %v", records, u.Turn, err)
			continue
		}
		got := u.Turn.WaitingFor + " " + on.Tool + " " + on.Brief
		if on.Diff != nil {
			got += fmt.Sprintf(" +%d -%d", on.Diff.Added, *on.Diff.Removed)
		}
		if on.Path != "" {
			got += " " + on.Path
		}
		if got != want {
			t.Errorf("%s: %q, want %q", records, got, want)
		}
	}
}

// The directory is that of the newest record that has one; what the agent notes beside it is of the session's start.
func TestContext(t *testing.T) {
	noted := workspace{sessionContext: sessionContext{Found: true, Dir: "/srv/gone", Branch: "old"}}
	for name, test := range map[string]struct {
		records    []string
		dir, place string
	}{
		"started":           {[]string{asked, answers, over}, "/srv/w", "main"},
		"resumed elsewhere": {[]string{asked, answers, over, resumed, asked, answers, over, asked, answers, over}, "/srv/w2", "topic"},
		"moved":             {[]string{asked, answers, over, `session.context_changed {"cwd":"/srv/w3"}`, asked}, "/srv/w3", ""},
	} {
		u, err := parse(t, lines(test.records...), noted)
		if err != nil || u.Dir != test.dir || u.Branch != test.place {
			t.Errorf("%s: %q on %q, %v", name, u.Dir, u.Branch, err)
		}
	}
}
