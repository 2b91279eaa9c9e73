package opencode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/launch"
)

// pendingRequest is a request that a server keeps in memory until it is answered: for permission (per_…), or a question (que_…). SEEN 1.18.33.
type pendingRequest struct {
	ID, SessionID, Permission string
	Patterns, Always          []string
	Metadata                  map[string]any // of each tool's own: of bash the command, of edits the diff
	Questions                 []struct {
		Question, Header string
		Options          []launch.Choice
		Multiple         bool
		Custom           *bool
	}
	Tool struct{ CallID string }
}

// OpenRequests implements [launch.Adapter]. `serve`, `web`, `acp` and terminals that listen return the open requests of a directory, with the
// session of each: the session's own, or a sub-agent's.
func (Adapter) OpenRequests(ctx context.Context, s discover.Session, host launch.Environment) ([]launch.OpenRequest, error) {
	if isV2(s) {
		return nil, unsupported("2 takes answers only with the password of its service, which agentctl does not use; answer in its terminal: opencode --session " + s.ID)
	}
	servers, err := listeners(s)
	if err == nil && len(servers) == 0 {
		err = unsupported("takes answers only on a port, and the process of this session listens on none; answer in its terminal, or start it with: opencode --port 0 --session " + s.ID)
	}
	if err != nil {
		return nil, err
	}
	var pending []pendingRequest
	for _, server := range servers {
		for _, kind := range []string{"permission", "question"} {
			var list []pendingRequest
			r := request{
				method: "GET", path: "/" + kind + "?directory=" + url.QueryEscape(s.Dir), accept: 200, refuse: "list the open requests", into: &list,
			}
			if accepted, err := r.ask(ctx, host, server); !accepted {
				return nil, errors.Join(ctx.Err(), err)
			}
			pending = append(pending, list...)
		}
	}
	works, err := readDatabase(ctx, s.Home, s.Path, func(d *database) map[string]bool {
		works := map[string]bool{}
		for _, p := range pending {
			works[p.SessionID] = p.SessionID == s.ID || d.worksFor(p.SessionID, s.ID)
		}
		return works
	})
	var out []launch.OpenRequest
	for _, p := range pending {
		if works[p.SessionID] {
			out = append(out, p.openRequest(pending))
		}
	}
	return out, err
}

// worksFor reports whether a session is a sub-agent of another one, at whatever depth.
func (d *database) worksFor(id, parent string) bool {
	for range maxDepth {
		up, ok := d.parentID(id)
		if !ok || up == "" || up == parent {
			return ok && up == parent
		}
		id = up
	}
	return false
}

// openRequest describes the request. all are those that are open: to refuse one refuses all others of its session (READ 1.18.33).
func (p pendingRequest) openRequest(all []pendingRequest) launch.OpenRequest {
	r := launch.OpenRequest{ID: p.ID, Call: p.Tool.CallID, Tool: p.Permission}
	if len(p.Questions) > 0 {
		r.Tool = questionTool
		for _, q := range p.Questions {
			r.Questions = append(r.Questions, launch.Question{Header: q.Header, Text: q.Question, Choices: q.Options, Multiple: q.Multiple, FreeText: q.Custom == nil || *q.Custom})
		}
		return r
	}
	command, _ := p.Metadata["command"].(string)
	diff, _ := p.Metadata["diff"].(string)
	if r.Text = command + diff; r.Text == "" || p.Permission != "bash" && p.Permission != "edit" {
		r.Reason = "permission " + p.Permission + ": " + strings.Join(p.Patterns, ", ")
	}
	if len(p.Always) > 0 {
		r.Always = fmt.Sprintf("allows %s %s, for all sessions of this directory in this process; OpenCode keeps that in memory until the process ends", p.Permission, strings.Join(p.Always, ", "))
	}
	r.No = "ends the turn, unless a reason is given"
	others := slices.DeleteFunc(slices.Clone(all), func(o pendingRequest) bool { return o.SessionID != p.SessionID || o.ID == p.ID || len(o.Questions) > 0 })
	if n := len(others); n > 0 {
		r.No += fmt.Sprintf("; also refuses the %d other open permissions of the session", n)
	}
	return r
}

// Answer implements [launch.Adapter]. The server takes the first answer to a request, and returns 404 for all others (SEEN 1.18.33).
func (Adapter) Answer(ctx context.Context, s discover.Session, r launch.OpenRequest, reply launch.Reply, host launch.Environment) error {
	servers, err := listeners(s)
	if err != nil {
		return err
	}
	path, body := "/permission/", discover.Facts{"reply": "once"}
	switch reply.Kind {
	case launch.ReplyText:
		path, body = "/question/", discover.Facts{"answers": reply.Answers}
	case launch.ReplyAlways:
		body["reply"] = "always"
	case launch.ReplyNo:
		body = discover.Facts{"reply": "reject", "message": reply.Reason}.WithoutEmpty()
	case launch.ReplyYes:
	}
	raw, _ := json.Marshal(body) // strings only: it does not fail
	q := request{
		path: path + url.PathEscape(r.ID) + "/reply?directory=" + url.QueryEscape(s.Dir), body: raw, accept: 200, refuse: "take the answer",
		notFound: launch.ErrAnswered,
	}
	err = launch.ErrAnswered
	for _, server := range servers { // one of them has the request
		var accepted bool
		if accepted, err = q.ask(ctx, host, server); accepted || !errors.Is(err, launch.ErrAnswered) {
			break
		}
	}
	return err
}
