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

// match is a reason to think that a process runs a session.
type match struct{ kind, detail string }

// inferredClaims are the claims for a process whose log names no session: strong where one session alone has a telling
// mark of the process, weak for each where only place and time fit.
func (s *evidence) inferredClaims(sub *loggedProcess, lib *homeSessions, base discover.Claim) []discover.Claim {
	var out []discover.Claim
	if sub.session != "" { // a TUI: the person may have gone to another session since
		c := base
		c.Strength, c.Kind, c.Detail = discover.Strong, "argv", "-s "+sub.session
		return s.addSubAgents(s.addClaim(out, c, sub, lib, sub.session), sub, lib)
	}
	if !sub.needsInference() {
		return nil
	}
	candidates := lib.candidates(sub)
	for _, find := range []func(*loggedProcess, *session) (match, bool){s.byTool, byTitle, byPrompt} {
		var match []*session
		c := base
		for _, st := range candidates {
			if clue, ok := find(sub, st); ok {
				match = append(match, st)
				c.Strength, c.Kind, c.Detail = discover.Strong, clue.kind, clue.detail
			}
		}
		if len(match) == 1 {
			return s.addSubAgents(s.addClaim(out, c, sub, lib, match[0].ID), sub, lib)
		}
	}
	for _, st := range candidates {
		c := base
		c.Strength, c.Kind = discover.Weak, "cwd"
		c.Detail = fmt.Sprintf("same directory %s, begun after the process", sub.dir)
		out = s.addClaim(out, c, sub, lib, st.ID)
	}
	return out
}

// byTool: a child of the process runs the very command that the session records as running.
func (s *evidence) byTool(sub *loggedProcess, st *session) (match, bool) {
	for _, p := range st.tail.RunningTools() {
		if child, ok := s.toolChild(sub, st, p); ok {
			return match{"tool-child", fmt.Sprintf("its child %s runs the command that the session records", child.ID)}, true
		}
	}
	return match{}, false
}

// toolRuns reports whether a tool call has begun after all, though it has not reported so far.
func (s *evidence) toolRuns(sub *loggedProcess, st *session, p transcript.Part) bool {
	_, ok := s.toolChild(sub, st, p)
	return ok
}

// toolChild finds the process of a shell command: a child of the agent's in a session of its own, `/bin/bash -c
// COMMAND` or, where the shell replaced itself, the command.
func (s *evidence) toolChild(sub *loggedProcess, st *session, p transcript.Part) (proc.Process, bool) {
	if p.Command == "" {
		return proc.Process{}, false
	}
	for child := range s.table.Children(sub.ID.PID) {
		if !child.Alive() {
			continue
		}
		args, err := child.Args()
		if err != nil || !slices.Contains(args, p.Command) && strings.Join(args, " ") != p.Command {
			continue
		}
		if dir, err := child.Cwd(); err == nil && discover.RealPath(dir) == discover.RealPath(st.Dir) {
			return child, true
		}
	}
	return proc.Process{}, false
}

func byTitle(sub *loggedProcess, st *session) (match, bool) {
	return match{"title", fmt.Sprintf("--title %q", sub.title)}, sub.title != "" && sub.title == st.Title
}

// byPrompt: the arguments of `run` are the session's first prompt, or its beginning where standard input follows.
func byPrompt(sub *loggedProcess, st *session) (match, bool) {
	asked := transcript.QuoteArgs(sub.promptArgs)
	if sub.mode != modeRun || asked == "" || st.head.FirstPrompt == "" {
		return match{}, false
	}
	cut := utf8.RuneCountInString(st.head.FirstPrompt) >= transcript.PromptLimit && strings.HasPrefix(asked, st.head.FirstPrompt)
	return match{"prompt", "its arguments are the session's first prompt"},
		cut || st.head.FirstPrompt == asked || strings.HasPrefix(st.head.FirstPrompt, asked+"\n")
}
