package opencode

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
	"agentctl/proc"
)

// match is a reason why a process may run a session.
type match struct{ kind, detail string }

// inferredClaims returns the claims for a process whose log names no session: a strong one if exactly one session matches the process, else
// a weak one for each session whose directory and time fit.
func (scan *processScan) inferredClaims(p *loggedProcess, base discover.Claim) (claims []discover.Claim) {
	if p.session != "" { // a terminal interface, in which the user may have opened another session since
		c := base
		c.Strength, c.Kind, c.Detail = discover.Strong, "argv", "-s "+p.session
		return scan.addSubAgents(scan.addClaim(nil, c, p, p.session), p)
	}
	if !p.needsInference() {
		return nil
	}
	candidates := p.stored.candidates(p)
	for _, matches := range []func(*loggedProcess, *session) (match, bool){scan.matchesTool, matchesTitle, matchesPrompt} {
		var matching []*session
		c := base
		for _, s := range candidates {
			if m, ok := matches(p, s); ok {
				matching = append(matching, s)
				c.Strength, c.Kind, c.Detail = discover.Strong, m.kind, m.detail
			}
		}
		if len(matching) == 1 {
			return scan.addSubAgents(scan.addClaim(nil, c, p, matching[0].ID), p)
		}
	}
	for _, s := range candidates {
		c := base
		c.Strength, c.Kind = discover.Weak, "cwd"
		c.Detail = fmt.Sprintf("same directory %s, begun after the process", p.dir)
		claims = scan.addClaim(claims, c, p, s.ID)
	}
	return claims
}

// matchesTool reports whether a child of the process runs a command that the session records as running.
func (scan *processScan) matchesTool(p *loggedProcess, s *session) (match, bool) {
	for _, call := range s.openTools() {
		if child, ok := scan.toolChild(p, s, call); ok {
			return match{"tool-child", fmt.Sprintf("its child %s runs the command that the session records", child.ID)}, true
		}
	}
	return match{}, false
}

// toolRuns reports whether the command of a tool call runs, although the call has not reported so far.
func (scan *processScan) toolRuns(p *loggedProcess, s *session, call transcript.Part) bool {
	_, ok := scan.toolChild(p, s, call)
	return ok
}

// toolChild finds the process of a shell command. It is a child of the agent: `/bin/bash -c COMMAND`, or COMMAND if the shell called exec.
func (scan *processScan) toolChild(p *loggedProcess, s *session, call transcript.Part) (proc.Process, bool) {
	if call.Command == "" {
		return proc.Process{}, false
	}
	for child := range scan.table.Children(p.ID.PID) {
		if !child.Alive() {
			continue
		}
		args, err := child.Args()
		if err != nil || !slices.Contains(args, call.Command) && strings.Join(args, " ") != call.Command {
			continue
		}
		if dir, err := child.Cwd(); err == nil && discover.RealPath(dir) == discover.RealPath(s.Dir) {
			return child, true
		}
	}
	return proc.Process{}, false
}

// matchesTitle reports whether the process was started with the session's title.
func matchesTitle(p *loggedProcess, s *session) (match, bool) {
	return match{"title", fmt.Sprintf("--title %q", p.title)}, p.title != "" && p.title == s.Title
}

// matchesPrompt reports whether the arguments of `run` are the session's first prompt, or its beginning if standard input follows.
func matchesPrompt(p *loggedProcess, s *session) (match, bool) {
	prompt, stored := transcript.QuoteArgs(p.promptArgs), s.head.FirstPrompt
	if p.mode != modeRun || prompt == "" || stored == "" {
		return match{}, false
	}
	wasCut := utf8.RuneCountInString(stored) >= transcript.PromptLimit
	return match{"prompt", "its arguments are the session's first prompt"},
		stored == prompt || strings.HasPrefix(stored, prompt+"\n") || wasCut && strings.HasPrefix(prompt, stored)
}
