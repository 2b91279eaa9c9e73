package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// view is a content of the pane: commands of this program, whose output is shown one after another.
type view struct {
	key, name string
	// long says for the help what it shows.
	long string
	// commands are those for a session.
	commands func(subject) [][]string
	// general: the commands are about no session, but about all hosts of the table.
	general bool
	// interval is how often the content is made anew though nothing seems to have changed.
	interval time.Duration
	// newestLast: the end of the content is shown.
	newestLast bool
	// begin finds the line with which the shown part begins; "" for the first.
	begin func(line string) bool
}

// subject is the session that a view is about.
type subject struct {
	// argument means the session.
	argument string
	dir      string
	// host is the other machine that has the session; "" for this one.
	host string
}

// views are the contents by their keys.
func views() []view {
	one := func(args ...string) func(subject) [][]string {
		return func(s subject) [][]string { return [][]string{append(slices.Clone(args), s.argument)} }
	}
	return []view{
		{key: "Enter", name: "peek", long: "show or hide its last messages", commands: one("peek", "-n", "50"), interval: 30 * time.Second, newestLast: true},
		{key: "i", name: "status", long: "show or hide its facts", commands: one("status"), interval: 5 * time.Second},
		{key: "t", name: "processes", long: "show or hide its processes, with their ports", commands: one("status"), interval: 3 * time.Second, begin: func(line string) bool { return strings.HasPrefix(line, "PID ") }},
		{key: "e", name: "evidence", long: "show or hide the evidence for its status", commands: one("status", "--explain"), interval: 10 * time.Second, begin: func(line string) bool { return strings.HasPrefix(line, "why:") }},
		{key: "o", name: "orphans", long: "show or hide what stopped sessions have left running", general: true, interval: 10 * time.Second, commands: func(subject) [][]string { return [][]string{{"list", "--orphans"}} }},
		{key: "w", name: "worktrees and locks", long: "show or hide the locks, and the worktrees of its repository", interval: 10 * time.Second, commands: func(s subject) [][]string {
			switch {
			case s.host != "": // both commands refuse that, and say how to ask there
				return [][]string{{"locks", "--host", s.host}, {"worktree", "list", "--host", s.host}}
			case s.dir == "":
				return [][]string{{"locks"}}
			}
			return [][]string{{"locks"}, {"worktree", "list", s.dir}}
		}},
		{key: "u", name: "usage", long: "show or hide tokens and limits of the last days", general: true, interval: time.Minute, commands: func(subject) [][]string {
			return [][]string{{"usage", "--since", "7d"}, {"usage", "--limits"}}
		}},
	}
}

// content is what a pane shall show: what of, for which width, and in which state of the session.
type content struct {
	view     string
	commands [][]string
	width    int
	state    string
}

func (c content) same(o content) bool {
	return c.view == o.view && c.width == o.width && slices.EqualFunc(c.commands, o.commands, slices.Equal[[]string])
}

// pane is the part of the screen that shows what commands print. Its content is made in the background.
type pane struct {
	wake chan struct{}

	mu        sync.Mutex
	wanted    content
	loaded    content
	lines     []string
	loadedAt  time.Time
	notBefore time.Time
}

func newPane() *pane { return &pane{wake: make(chan struct{}, 1)} }

// want asks for a content, and returns what of it is known. known is false before its first lines.
func (p *pane) want(c content, interval time.Duration, now time.Time) (lines []string, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = c
	fresh := p.loaded.same(c) && p.loaded.state == c.state && now.Sub(p.loadedAt) < interval
	if !fresh && (!p.loaded.same(c) || !now.Before(p.notBefore)) {
		select {
		case p.wake <- struct{}{}:
		default: // it is asked for already
		}
	}
	return p.lines, p.loaded.same(c)
}

// load makes the contents that are wanted, until ctx ends.
func (p *pane) load(ctx context.Context, r runner, changed func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		p.mu.Lock()
		c := p.wanted
		p.mu.Unlock()
		began := time.Now()
		lines := r.print(ctx, c)
		took := time.Since(began)
		p.mu.Lock()
		p.loaded, p.lines, p.loadedAt = c, lines, time.Now()
		p.notBefore = p.loadedAt.Add(max(panePause, paneShare*took))
		p.mu.Unlock()
		changed()
	}
}

// print returns what the commands of a content print, with the command line of each if there are several.
func (r runner) print(ctx context.Context, c content) (lines []string) {
	for i, args := range c.commands {
		if i > 0 {
			lines = append(lines, "", "$ "+r.commandLine(args))
		}
		out, exit := r.capture(ctx, c.width, args)
		lines = append(lines, out...)
		switch {
		case exit != 0:
			lines = append(lines, fmt.Sprintf("exit %d", exit))
		case len(out) == 0:
			lines = append(lines, "nothing")
		}
	}
	return lines
}
