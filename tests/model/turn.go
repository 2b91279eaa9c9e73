package model

import (
	"regexp"
	"strings"
	"sync"
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

// reminder is what Claude Code mixes into the user's texts.
var reminder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`)
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
