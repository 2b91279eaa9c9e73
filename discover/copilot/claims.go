package copilot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// Claims returns what the live processes of the agent show: one presence for each, and the evidence for each session that it has loaded.
// A terminal holds all sessions that it has shown; which one it shows now cannot be seen.
func (Adapter) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) (claims []discover.Claim, err error) {
	for p := range candidates(table) {
		if err := ctx.Err(); err != nil {
			return claims, err
		}
		agent := inspect(p, homes)
		if agent == nil {
			continue
		}
		sessions, failed := agent.sessionClaims(ctx)
		err = errors.Join(err, failed)
		shared := agent.server || len(sessions) > 1
		claims = append(claims, agent.presence(shared))
		for _, c := range sessions {
			c.Shared = shared
			claims = append(claims, c)
		}
	}
	return claims, err
}

// newClaim returns a claim with what is known of the process.
func (p *process) newClaim() discover.Claim {
	c := discover.Claim{Agent: agentName, Process: p.ID, Home: p.home, Source: p.source(), Version: p.version, Unreadable: p.unreadable, Turn: p.liveTurn()}
	if shared, err := p.SharesRoot(); !p.listed && err == nil && !shared {
		c.Home = p.PathInRoot(p.home) // its sessions may have the same IDs as ours
	}
	return c
}

// presence says that the process is alive. Until a terminal is given its first prompt, nothing of its session is stored.
func (p *process) presence(shared bool) discover.Claim {
	c := p.newClaim()
	c.Strength, c.Kind, c.Detail = discover.Exact, "process", fmt.Sprintf("%s runs %s", p.ID, cmp.Or(p.Exe, p.Name))
	c.Shared = shared
	c.HideIfUnlinked = p.server && p.unreadable == ""
	c.NameOnly = !p.known
	if c.Turn == nil && !p.server {
		c.Turn = &discover.Turn{State: discover.TurnNone}
	}
	if !p.server {
		c.Dir, _ = p.Cwd()
	}
	return c
}

// sessionClaims returns the evidence for the sessions that the process has loaded: the locks that it holds, or else, up to 1.0.88, the
// files with its pid, or else what a terminal has resumed, by its log or its command line.
func (p *process) sessionClaims(ctx context.Context) (claims []discover.Claim, err error) {
	add := func(agent process, id, kind, detail string, strength discover.Strength) {
		c := agent.newClaim()
		c.Session, c.Kind, c.Detail, c.Strength = id, kind, detail, strength
		if c.Unreadable != "" {
			c.Strength = discover.Weak // nobody has checked what this version does
		}
		err = errors.Join(err, agent.describe(ctx, &c))
		claims = append(claims, c)
	}
	for _, h := range p.holds {
		agent := *p
		if h.file.PathDiffers { // in a mount namespace of its own
			agent.home, agent.listed = path.Dir(h.root), false
		}
		add(agent, h.session, "lock", fmt.Sprintf("holds an exclusive flock on %s (fd %d)", h.file.Path, h.file.FD), discover.Exact)
	}
	if len(p.holds) > 0 || !p.listed || !p.known {
		return claims, err
	}
	for _, id := range p.formerSessions(ctx) {
		file := filepath.Join(sessionDir(p.home, id), fmt.Sprintf("inuse.%d.lock", p.NamespacePID()))
		if info, statErr := storage.Stat(ctx, file); statErr == nil && p.StartedBefore(info.ModTime) {
			add(*p, id, "pid-file", file+" has its pid, and was written since it started", discover.Strong)
		}
	}
	if len(claims) > 0 || p.source() != "tui" {
		return claims, err
	}
	id, kind, detail, strength := p.shownSession(ctx), "log", "its log says that it shows the session, which a terminal locks at its first prompt", discover.Strong
	if id == "" {
		id, kind, detail, strength = p.session, "argv", "the command line resumes the session", discover.Weak
	}
	if _, statErr := storage.Stat(ctx, eventsPath(p.home, id)); id != "" && statErr == nil {
		add(*p, id, kind, detail, strength)
		if strength == discover.Weak {
			claims[len(claims)-1].Alternative = "the terminal may show another session by now"
		}
	}
	return claims, err
}

// describe sets what is stored of the session of a claim: nothing but a note of its directory and name before the first prompt.
func (p *process) describe(ctx context.Context, c *discover.Claim) error {
	if !p.listed {
		return nil
	}
	file := eventsPath(p.home, c.Session)
	_, err := storage.Stat(ctx, file)
	if err == nil {
		c.Path = file
		return nil
	}
	if !storage.IsNotExist(err) {
		return warning(file, err)
	}
	w, err := readWorkspace(ctx, filepath.Join(sessionDir(p.home, c.Session), workspaceName))
	if c.Dir = w.Dir; w.Named {
		c.Title = w.Name
	}
	if c.Turn == nil {
		c.Turn = &discover.Turn{State: discover.TurnNone}
	}
	return err
}
