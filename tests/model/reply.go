package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"agentctl/tests/directive"
)

// reply is the plan of one answer, free of any API's dialect.
type reply struct {
	text string
	call *call
	// status other than 200 answers with an HTTP error; code is its type, or the failed stream's.
	status int
	code   string
	// before holds the answer back altogether, during stops it after its first words.
	before, during *directive.Pause
	// fails ends a streamed answer with the API's own error event.
	fails bool
}

// call is one tool call.
type call struct {
	tool
	args json.RawMessage
}

// plan decides the answer: the Nth call of a turn is the Nth step of the directive in the user's newest text.
func (t turn) plan() (reply, error) {
	ok := reply{status: http.StatusOK}
	if t.side() {
		ok.text = t.sideAnswer()
		return ok, nil
	}
	prompt, done, last := t.newest()
	if c := t.poll(last); c != nil {
		ok.call = c
		return ok, nil
	}
	steps, found := directive.Parse(prompt)
	switch {
	case !found:
		ok.text = "OK: " + headline(prompt)
	case done < len(steps):
		return t.perform(steps[done])
	default:
		ok.text = "done: " + headline(last.text)
	}
	return ok, nil
}

// perform turns one step into an answer.
func (t turn) perform(s directive.Step) (reply, error) {
	r := reply{status: http.StatusOK}
	var err error
	switch s.Verb {
	case "text":
		r.text = s.Arg
	case "hang":
		r.text = "Hang over."
		r.during, _, err = parsePause(s.Arg)
	case "delay":
		r.before, r.text, err = parsePause(s.Arg)
		r.text = firstOf(r.text, "Delay over.")
	case "error":
		status, code, _ := strings.Cut(s.Arg, " ")
		r.status, err = strconv.Atoi(status)
		r.code = code
	case "fail":
		r.text, r.fails, r.code = "Half an answer", true, firstOf(s.Arg, "server_error")
	default:
		r.text = "I use a tool."
		r.call, err = t.callFor(s)
	}
	if err != nil {
		return reply{}, fmt.Errorf("directive %q: %w", s, err)
	}
	return r, nil
}

// parsePause is [directive.ParsePause] for an answer that need not pause.
func parsePause(arg string) (*directive.Pause, string, error) {
	p, rest, err := directive.ParsePause(arg)
	return &p, rest, err
}

func firstOf(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// headline is the first line of s, at most 60 characters.
func headline(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60])
	}
	return s
}
