package launch

import (
	"errors"
	"testing"

	"agentctl/discover"
)

// The session went on with the answer only if it does not wait any more, and if what its transcript has of the call agrees.
func TestJudgeAnswer(t *testing.T) {
	waiting := func(call string) discover.Session {
		return discover.Session{Record: &discover.Record{}, Status: discover.Waiting, WaitingOn: &discover.WaitingOn{ID: call}}
	}
	running, stopped := discover.Session{Record: &discover.Record{}, Status: discover.Running}, discover.Session{Record: &discover.Record{}, Status: discover.Stopped}
	yes, no, text := Reply{Kind: ReplyYes}, Reply{Kind: ReplyNo}, Reply{Kind: ReplyText, Answers: [][]string{{"the second"}}}
	call := func(state discover.ToolState, output string) *discover.ToolCall {
		return &discover.ToolCall{ID: "c", State: state, Output: output}
	}
	for name, c := range map[string]struct {
		session discover.Session
		reply   Reply
		call    *discover.ToolCall
		want    Answered
	}{
		"it still waits":                       {waiting("c"), yes, call(discover.ToolWaiting, ""), NotSeen},
		"it waits on another call":             {waiting("d"), yes, nil, WentOn},
		"the command runs":                     {running, yes, call(discover.ToolRunning, ""), WentOn},
		"a sub-agent's command runs":           {running, yes, nil, WentOn},
		"the command has failed":               {running, yes, call(discover.ToolFailed, "exit code 1"), WentOn},
		"the terminal refused it":              {running, yes, call(discover.ToolRefused, ""), Contradicted},
		"refused":                              {running, no, call(discover.ToolRefused, ""), WentOn},
		"the refusal is not stored yet":        {running, no, call(discover.ToolRunning, ""), NotSeen},
		"the terminal allowed it":              {running, no, call(discover.ToolDone, "ok"), Contradicted},
		"a sub-agent's call is refused":        {running, no, nil, WentOn},
		"a question":                           {running, text, call(discover.ToolDone, `{"answers":["the second"]}`), WentOn},
		"a question, answered in the terminal": {running, text, call(discover.ToolDone, `{"answers":["the first"]}`), Contradicted},
		"killed":                               {stopped, yes, call(discover.ToolInterrupted, ""), Ended},
		"killed, and nothing is stored":        {stopped, yes, nil, Ended},
		"ended after the command":              {stopped, yes, call(discover.ToolDone, "ok"), WentOn},
	} {
		if got := judgeAnswer(c.session, OpenRequest{ID: "r", Call: "c"}, c.reply, c.call); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// A request is picked by its own ID or its call's; without one, only if it is the only one.
func TestPick(t *testing.T) {
	one := []OpenRequest{{ID: "r1", Call: "c1"}}
	two := append(one, OpenRequest{ID: "r2"})
	for _, c := range []struct {
		open []OpenRequest
		id   string
		want string
		err  error
	}{
		{one, "", "r1", nil},
		{two, "r2", "r2", nil},
		{two, "c1", "r1", nil},
		{two, "", "", ErrSeveral},
		{one, "r2", "", ErrAnswered},
		{nil, "", "", ErrAnswered},
	} {
		if got, err := Pick(c.open, c.id); got.ID != c.want || !errors.Is(err, c.err) {
			t.Errorf("%d open, %q: %q, %v", len(c.open), c.id, got.ID, err)
		}
	}
}
