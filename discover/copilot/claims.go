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
		x := inspect(p, homes)
		if x == nil || x.isLoader(table) {
			continue
		}
		sessions, failed := x.sessionClaims(ctx)
		err = errors.Join(err, failed)
		shared := x.server || len(sessions) > 1
		claims = append(claims, x.presence(shared))
		for _, c := range sessions {
			c.Shared = shared
			claims = append(claims, c)
		}
	}
	return claims, err
}

// isLoader reports whether the process only waits for its child, which runs the session. That is so up to 1.0.12.
func (x *process) isLoader(table *proc.Table) bool {
	for child := range table.Children(x.ID.PID) {
		if len(x.holds) == 0 && x.unreadable != "" && child.Exe == x.Exe && child.Alive() {
			return true
		}
	}
	return false
}

// newClaim returns a claim with what is known of the process.
func (x *process) newClaim() discover.Claim {
	c := discover.Claim{Agent: agentName, Process: x.ID, Home: x.home, Source: x.source(), Version: x.version, Unreadable: x.unreadable, Turn: x.turn()}
	if shared, err := x.SharesRoot(); !x.listed && err == nil && !shared {
		c.Home = x.PathInRoot(x.home) // its sessions may have the same IDs as ours
	}
	if x.State.Stopped() {
		c.Meta = discover.Facts{"suspended": true}
	}
	return c
}

// presence says that the process is alive. Until a terminal is given its first prompt, nothing of its session is stored.
func (x *process) presence(shared bool) discover.Claim {
	c := x.newClaim()
	c.Strength, c.Kind, c.Detail = discover.Exact, "process", fmt.Sprintf("%s runs %s", x.ID, cmp.Or(x.Exe, x.Name))
	c.Shared = shared
	c.HideIfUnlinked = x.server && x.unreadable == ""
	c.NameOnly = !x.known
	if c.Turn == nil && !x.server {
		c.Turn = &discover.Turn{State: discover.TurnNone}
	}
	if !x.server {
		c.Dir, _ = x.Cwd()
	}
	return c
}

// sessionClaims returns the evidence for the sessions that the process has loaded: the locks that it holds, or else, up to 1.0.88, the
// files with its pid, or else what a terminal has resumed, by its log or its command line.
func (x *process) sessionClaims(ctx context.Context) (claims []discover.Claim, err error) {
	add := func(id, kind, detail string, strength discover.Strength) {
		c := x.newClaim()
		c.Session, c.Kind, c.Detail, c.Strength = id, kind, detail, strength
		if c.Unreadable != "" {
			c.Strength = discover.Weak // nobody has checked what this version does
		}
		err = errors.Join(err, x.describe(ctx, &c))
		claims = append(claims, c)
	}
	for _, h := range x.holds {
		detail := fmt.Sprintf("holds an exclusive flock on %s (fd %d)", h.file.Path, h.file.FD)
		if h.file.PathDiffers { // in a mount namespace of its own
			y := *x
			y.home, y.listed = path.Dir(h.root), false
			c := y.newClaim()
			c.Session, c.Kind, c.Detail, c.Strength = h.session, "lock", detail, discover.Exact
			claims = append(claims, c)
			continue
		}
		add(h.session, "lock", detail, discover.Exact)
	}
	if len(x.holds) > 0 || !x.listed || !x.known {
		return claims, err
	}
	for _, id := range x.formerSessions(ctx) {
		file := filepath.Join(sessionDir(x.home, id), fmt.Sprintf("inuse.%d.lock", x.NamespacePID()))
		if info, statErr := storage.Stat(ctx, file); statErr == nil && x.StartedBefore(info.ModTime) {
			add(id, "pid-file", file+" has its pid, and was written since it started", discover.Strong)
		}
	}
	if len(claims) > 0 || x.source() != "tui" {
		return claims, err
	}
	id, kind, detail, strength := x.shownSession(ctx), "log", "its log says that it shows the session, which a terminal locks at its first prompt", discover.Strong
	if id == "" {
		id, kind, detail, strength = x.session, "argv", "the command line resumes the session; the terminal may show another one by now", discover.Weak
	}
	if _, statErr := storage.Stat(ctx, eventsPath(x.home, id)); id != "" && statErr == nil {
		add(id, kind, detail, strength)
	}
	return claims, err
}

// describe sets what is stored of the session of a claim: nothing but a note of its directory and name before the first prompt.
func (x *process) describe(ctx context.Context, c *discover.Claim) error {
	if !x.listed {
		return nil
	}
	file := eventsPath(x.home, c.Session)
	_, err := storage.Stat(ctx, file)
	if err == nil {
		c.Path = file
		return nil
	}
	if !storage.IsNotExist(err) {
		return warning(file, err)
	}
	w, err := readWorkspace(ctx, filepath.Join(sessionDir(x.home, c.Session), workspaceName))
	if c.Dir = w.Dir; w.Named {
		c.Title = w.Name
	}
	if c.Turn == nil {
		c.Turn = &discover.Turn{State: discover.TurnNone}
	}
	return err
}
