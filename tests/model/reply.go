package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"agentctl/tests/directive"
)

// ending is how a streamed answer ends.
type ending int

const (
	complete ending = iota
	failed          // with the API's own error event
	cut             // with a broken connection
)

// reply is the plan of one answer, free of any API's dialect.
type reply struct {
	think, text string
	call        *call
	// status other than 200 answers with an HTTP error; code is its type, or the failed stream's.
	status int
	code   string
	// before holds the answer back altogether, during stops it after its first words.
	before, during *directive.Pause
	// slow is the time between the words of the text; 0 sends it as a whole.
	slow   time.Duration
	ending ending
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
	case "think":
		r.think, r.text = s.Arg, "I have thought."
	case "hang":
		r.text = "Hang over."
		r.during, _, err = parsePause(s.Arg)
	case "delay":
		r.before, r.text, err = parsePause(s.Arg)
		r.text = firstOf(r.text, "Delay over.")
	case "slow":
		var n int
		n, r.slow, err = parseSlow(s.Arg)
		r.text = strings.TrimSpace(strings.Repeat("word ", n))
	case "error":
		status, code, _ := strings.Cut(s.Arg, " ")
		r.status, err = strconv.Atoi(status)
		r.code = code
	case "fail":
		r.text, r.ending, r.code = "Half an answer", failed, firstOf(s.Arg, "server_error")
	case "cut":
		r.text, r.ending = "Half an answer", cut
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

// parseSlow reads "N [interval]".
func parseSlow(arg string) (words int, every time.Duration, err error) {
	first, rest, _ := strings.Cut(arg, " ")
	if words, err = strconv.Atoi(first); err != nil || words < 1 {
		return 0, 0, fmt.Errorf("%q is not a number of words", first)
	}
	if every = time.Second; rest != "" {
		every, err = time.ParseDuration(rest)
	}
	return words, every, err
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
