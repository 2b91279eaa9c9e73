package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"agentctl/tests/directive"
)

// turn is what a request asks for, whichever API it came through.
type turn struct {
	model  string
	system string
	stream bool
	schema bool // the answer has to be JSON
	tools  []tool
	items  []item
}

// tool is one tool that the agent offers; namespace is only known to the Responses API.
type tool struct{ namespace, name string }

// item is a piece of the conversation that can decide about the answer: a text of the user or a tool's result.
type item struct {
	text   string
	result bool
	// poll: the result of asking a tool that still runs; it does not end a step.
	poll bool
}

// reminder is what Claude Code and Copilot CLI mix into the user's texts.
var reminder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<system[-_]reminder>.*?</system[-_]reminder>|<current_datetime>.*?</current_datetime>`)
})

// tagged matches texts that agents send in the user's name: <environment_context> and the like, Codex's
// AGENTS.md, Claude Code's note about an interrupted turn.
var tagged = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(<[a-z][\w-]*[\s>]|# AGENTS\.md|\[Request interrupted by user)`)
})

// teamMessage is what Claude Code puts around what a teammate is told.
var teamMessage = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`</?teammate-message[^>]*>`)
})

// realText is a user text without what agents put there themselves; "" if nothing is left.
func realText(s string) string {
	s = strings.TrimSpace(teamMessage().ReplaceAllString(reminder().ReplaceAllString(s, ""), ""))
	if tagged().MatchString(s) {
		return ""
	}
	return s
}

// newest returns the newest real text of the user, how many steps of it are done, and the newest tool result.
func (t turn) newest() (prompt string, done int, last item) {
	for _, it := range t.items {
		switch {
		case !it.result:
			if s := realText(it.text); s != "" {
				prompt, done, last = s, 0, item{}
			}
		case it.poll:
			last = it
		default:
			done, last = done+1, it
		}
	}
	return prompt, done, last
}

// side tells requests that are no part of a turn: titles, summaries, an agent's small helpers. They offer no
// tools, or ask for a compaction's summary.
func (t turn) side() bool {
	prompt, _, _ := t.newest()
	return len(t.tools) == 0 && t.system != "" || summarises(prompt)
}

func summarises(prompt string) bool {
	return !strings.Contains(prompt, "[[") && strings.Contains(prompt, "detailed summary") ||
		strings.Contains(prompt, "CRITICAL: Respond with TEXT ONLY")
}

// sideAnswer answers such a request plainly; titles are wanted as JSON by some.
func (t turn) sideAnswer() string {
	prompt, _, _ := t.newest()
	about := strings.ToLower(t.system + prompt)
	switch {
	case summarises(prompt):
		return "<summary>\nA summary of the conversation.\n</summary>"
	case t.schema || strings.Contains(about, "title") && strings.Contains(about, "json"):
		return `{"title": "A title"}`
	case strings.Contains(about, "title"):
		return "A title"
	}
	return "OK"
}

// has reports whether the agent offers the tool.
func (t turn) has(name string) bool {
	for _, offered := range t.tools {
		if offered.name == name {
			return true
		}
	}
	return false
}

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
