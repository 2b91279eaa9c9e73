package opencode

import (
	"fmt"
	"reflect"
	"testing"

	"agentctl/discover"
)

func TestTurn(t *testing.T) {
	for name, c := range map[string]struct {
		message string // "" for none
		parts   []string
		want    discover.Turn
	}{
		"nothing asked":   {"", nil, discover.Turn{State: discover.TurnNone}},
		"asked":           {`{"role":"user"}`, nil, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"answering":       {`{"role":"assistant","time":{"created":1}}`, []string{`{"type":"step-start"}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"tool":            {`{"role":"assistant"}`, []string{`{"type":"tool","tool":"bash","state":{"status":"running"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "tool: bash"}},
		"tool ended":      {`{"role":"assistant"}`, []string{`{"type":"tool","tool":"bash","state":{"status":"completed"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"question":        {`{"role":"assistant"}`, []string{`{"type":"tool","tool":"question","state":{"status":"running","input":{"questions":[{"question":"Which?"},{"question":"How?"}]}}}`}, discover.Turn{State: discover.TurnWaiting, WaitingFor: "question", WaitingOn: &discover.WaitingOn{Tool: "question", Brief: "Which?", Questions: []string{"Which?", "How?"}}}},
		"between steps":   {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"status":"completed"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"rejected":        {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"status":"error","error":"The user rejected permission to use this specific tool call."}}`}, discover.Turn{State: discover.TurnInterrupted}},
		"rejected, 1.1":   {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"status":"error","error":"Error: The user rejected permission to use this specific tool call."}}`}, discover.Turn{State: discover.TurnInterrupted}},
		"told why not":    {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"status":"error","error":"The user rejected permission to use this specific tool call with the following feedback: no"}}`}, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"dismissed":       {`{"role":"assistant","finish":"tool-calls","time":{"completed":2}}`, []string{`{"type":"tool","state":{"error":"The user dismissed this question"}}`}, discover.Turn{State: discover.TurnInterrupted}},
		"answered":        {`{"role":"assistant","finish":"stop","time":{"completed":2}}`, nil, discover.Turn{State: discover.TurnDone}},
		"too long":        {`{"role":"assistant","finish":"length","time":{"completed":2}}`, nil, discover.Turn{State: discover.TurnDone}},
		"aborted":         {`{"role":"assistant","error":{"name":"MessageAbortedError","data":{"message":"Aborted"}},"time":{"completed":2}}`, nil, discover.Turn{State: discover.TurnInterrupted}},
		"failed":          {`{"role":"assistant","error":{"name":"APIError","data":{"message":"no"}},"time":{"completed":2}}`, nil, discover.Turn{State: discover.TurnFailed, Error: "no"}},
		"failed silently": {`{"role":"assistant","error":{"name":"UnknownError"}}`, nil, discover.Turn{State: discover.TurnFailed, Error: "UnknownError"}},
		"unknown":         {`{"role":"system"}`, nil, discover.Turn{}},
		"torn":            {`{"role":`, nil, discover.Turn{}},
	} {
		s := memoryRows{}
		if c.message != "" {
			s = append(s, newMemoryMessage("msg_1", c.message, c.parts...))
		}
		tail := readTail(s)
		if got := tail.state(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// A message that the user sends during an answer is left to the next prompt if that answer ends the turn.
func TestMessageSentDuringTheLastAnswer(t *testing.T) {
	const aborted = `{"role":"assistant","time":{"created":2,"completed":5},"error":{"name":"MessageAbortedError","data":{"message":"Aborted"}}}`
	const called = `{"role":"assistant","finish":"tool-calls","time":{"created":2,"completed":5}}`
	const dismissed = `{"type":"tool","tool":"question","state":{"status":"error","error":"The user dismissed this question"}}`
	for name, c := range map[string]struct {
		answer, part string
		sent         int // when the newest message was sent
		want         discover.Turn
	}{
		"aborted":   {aborted, "", 4, discover.Turn{State: discover.TurnInterrupted}},
		"dismissed": {called, dismissed, 4, discover.Turn{State: discover.TurnInterrupted}},
		"failed": {
			`{"role":"assistant","time":{"created":2,"completed":5},"error":{"name":"APIError","data":{"message":"no"}}}`, "", 4,
			discover.Turn{State: discover.TurnFailed, Error: "no"},
		},
		"prompted after an abort":   {aborted, "", 6, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"prompted after a refusal":  {called, dismissed, 6, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"during a call that worked": {called, `{"type":"tool","tool":"bash","state":{"status":"completed"}}`, 4, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
		"during the last words":     {`{"role":"assistant","finish":"stop","time":{"created":2,"completed":5}}`, "", 4, discover.Turn{State: discover.TurnOpen, Detail: "model"}},
	} {
		user := func(at int) string { return fmt.Sprintf(`{"role":"user","time":{"created":%d}}`, at) }
		tail := readTail(memoryRows{
			newMemoryMessage("msg_1", user(1)), newMemoryMessage("msg_2", c.answer, c.part), newMemoryMessage("msg_3", user(3)), newMemoryMessage("msg_4", user(c.sent)),
		})
		if got := tail.state(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

// The messages that the user sends during an answer do not hide that it is open.
func TestOpenAnswer(t *testing.T) {
	const asked, note = `{"role":"user","time":{"created":1}}`, `{"role":"user","time":{"created":3}}`
	const asks = `{"type":"tool","tool":"bash","state":{"status":"running","input":{"command":"x"},"time":{"start":2}}}`
	for name, c := range map[string]struct {
		answer string
		notes  int
		tools  int // of the open answer; -1 for no open answer
	}{
		"no note":    {`{"role":"assistant","time":{"created":2}}`, 0, -1},
		"one":        {`{"role":"assistant","time":{"created":2}}`, 1, 1},
		"several":    {`{"role":"assistant","time":{"created":2}}`, 3, 1},
		"too many":   {`{"role":"assistant","time":{"created":2}}`, maxDelayed + 1, -1},
		"has ended":  {`{"role":"assistant","time":{"created":2,"completed":3}}`, 1, -1},
		"has failed": {`{"role":"assistant","time":{"created":2},"error":{"name":"APIError"}}`, 1, -1},
	} {
		s := memoryRows{newMemoryMessage("msg_000", asked), newMemoryMessage("msg_001", c.answer, asks)}
		for n := range c.notes {
			s = append(s, newMemoryMessage(fmt.Sprintf("msg_1%03d", n), note))
		}
		tail := readTail(s)
		got := -1
		if tail.OpenAnswer != nil {
			got = len(tail.OpenAnswer.RunningTools())
		}
		if turn := tail.Turn(); got != c.tools || c.notes > 0 && turn.State != discover.TurnOpen {
			t.Errorf("%s: the open answer runs %d tools, want %d; turn %+v", name, got, c.tools, turn)
		}
	}
}
