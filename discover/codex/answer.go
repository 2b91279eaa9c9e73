package codex

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// serverRequest is a request of an app-server that waits for an answer of one of its clients. The server sends it to each client that joins the
// thread, under the same number, and takes the first answer (SEEN 0.169, 0.171).
type serverRequest struct {
	number json.RawMessage
	method string
	params storage.Object
}

// The methods of the requests that are understood (SEEN 0.169, 0.171).
const (
	commandApproval = "item/commandExecution/requestApproval"
	patchApproval   = "item/fileChange/requestApproval"
	userInput       = "item/tool/requestUserInput"
)

// OpenRequests implements [launch.Adapter]. Only the daemon and other app-servers with a socket let a second client answer.
func (Adapter) OpenRequests(ctx context.Context, s discover.Session, _ launch.Environment) ([]launch.OpenRequest, error) {
	c, err := joinServer(ctx, s)
	if err != nil {
		return nil, err
	}
	defer c.Hangup()
	open, err := c.openRequests(ctx, s.ID)
	var out []launch.OpenRequest
	for _, r := range open {
		if o, known := r.openRequest(s); known {
			out = append(out, o)
		} else if err == nil {
			err = unsupported("asks by " + discover.Truncate(r.method, discover.ErrorLimit) + ", which can be answered in its own terminal only")
		}
	}
	if len(out) > 0 {
		err = nil
	}
	return out, err
}

// joinServer connects to the app-server that runs the session.
func joinServer(ctx context.Context, s discover.Session) (*rpcClient, error) {
	server := serverOf(s)
	if server.socket == "" {
		return nil, unsupported("takes answers from outside only for sessions that its daemon runs; this one is run by its own terminal or client")
	}
	return server.ask(ctx)
}

// openRequests joins each thread of the session that waits for its user, and returns the requests that the server sends for them. To join a thread
// that is loaded changes nothing stored, and no terminal shows it (SEEN 0.169, 0.171).
func (r *rpcClient) openRequests(ctx context.Context, id string) ([]serverRequest, error) {
	threads, err := r.threadTree(id)
	if err != nil {
		return nil, err
	}
	for _, t := range threads {
		if !t.waiting {
			continue
		}
		if _, err := r.Call("thread/resume", map[string]any{"threadId": t.id, "excludeTurns": true}); err != nil {
			return nil, err
		}
		for t.waiting && !slices.ContainsFunc(r.requests, func(request serverRequest) bool { return request.params.Get("threadId").Text(0) == t.id }) {
			if err := pause(ctx); err != nil {
				return nil, err
			}
			if t, err = r.readThread(t.id); err != nil {
				return nil, err
			}
		}
	}
	if len(r.requests) > 0 { // others may follow the first one
		if _, err := r.readThread(id); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(r.requests, func(request serverRequest) bool { return r.resolved[string(request.number)] }), nil
}

// id identifies the request: the call, and the number of the request in its server. A command may be asked about twice.
func (s serverRequest) id() string {
	return s.params.Get("itemId").Text(discover.BriefLimit) + "/" + string(s.number)
}

// openRequest describes the request. known is false for a method that is not understood.
func (s serverRequest) openRequest(session discover.Session) (o launch.OpenRequest, known bool) {
	p := s.params
	o = launch.OpenRequest{
		ID: s.id(), Call: p.Get("itemId").Text(discover.BriefLimit), Reason: p.Get("reason").Text(0), Dir: p.Get("cwd").Text(discover.PathLimit),
		Guard: filepath.Dir(discover.RealPath(serverOf(session).socket)),
	}
	o.Always, _ = s.always()
	switch s.method {
	case commandApproval:
		o.Tool, o.Text = "command", p.Get("command").Text(0)
		if network := p.Get("networkApprovalContext"); network.Object().Get("host") != nil {
			o.Reason = "network access: " + network.Object().Get("host").Text(discover.ErrorLimit)
		}
	case patchApproval:
		o.Tool = "patch"
	case userInput:
		o.Tool = questionTool
		for v := range p.Get("questions").Elements() {
			q := v.Object()
			question := launch.Question{ID: q.Get("id").Text(0), Header: q.Get("header").Text(0), Text: q.Get("question").Text(0)}
			for v := range q.Get("options").Elements() {
				question.Choices = append(question.Choices, launch.Choice{Label: v.Object().Get("label").Text(0), Description: v.Object().Get("description").Text(0)})
			}
			question.FreeText = len(question.Choices) == 0 || q.Get("isOther").IsTrue()
			if q.Get("isSecret").IsTrue() { // it would stand in a command line
				return o, false
			}
			o.Questions = append(o.Questions, question)
		}
	default:
		return o, false
	}
	return o, true
}

// always returns the decision that allows more than this call, and what it allows; "" if the server offers none.
func (s serverRequest) always() (allows string, decision any) {
	const session = "acceptForSession"
	const untilUnloaded = " until the session is unloaded; Codex keeps that in memory"
	if s.method == patchApproval { // its terminal offers that always
		return "allows changes of these files" + untilUnloaded, session
	}
	for v := range s.params.Get("availableDecisions").Elements() {
		rule := v.Object().Get("acceptWithExecpolicyAmendment")
		switch {
		case rule != nil:
			words := texts(rule.Object().Get("execpolicy_amendment"))
			return "allows commands that begin with: " + strings.Join(words, " ") + " – in all sessions; Codex adds that to rules/default.rules in its home", json.RawMessage(v.Raw())
		case v.Text(0) == session:
			return "allows this command" + untilUnloaded, session
		}
	}
	return "", nil
}

// Answer implements [launch.Adapter]. The terminal of the thread closes its question. A server ignores the second answer to a request without a
// word (SEEN 0.171): OpenRequest.Guard keeps two answers of agentctl apart.
func (Adapter) Answer(ctx context.Context, s discover.Session, o launch.OpenRequest, reply launch.Reply, _ launch.Environment) error {
	if reply.Reason != "" {
		return unsupported("takes no reason with a refusal; send it afterwards: agentctl send " + s.ID + " TEXT")
	}
	c, err := joinServer(ctx, s)
	if err != nil {
		return err
	}
	defer c.Hangup()
	open, err := c.openRequests(ctx, s.ID)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(open, func(r serverRequest) bool { return r.id() == o.ID })
	if i < 0 {
		return launch.ErrAnswered
	}
	r := open[i]
	raw, err := json.Marshal(map[string]any{"id": r.number, "result": r.result(o, reply)})
	if err == nil {
		err = c.SendMessage(raw)
	}
	for err == nil && !c.resolved[string(r.number)] {
		if _, err = c.readThread(s.ID); err == nil { // what the server sends meanwhile is noted
			err = pause(ctx)
		}
	}
	return err
}

// result is the answer in the server's words (SEEN 0.171). A call that is declined is refused, and the turn goes on; "cancel", which the terminal offers,
// would interrupt it. A text of the user's own is given as the terminal gives it.
func (s serverRequest) result(o launch.OpenRequest, reply launch.Reply) any {
	decision := any("accept")
	switch reply.Kind {
	case launch.ReplyNo:
		decision = "decline"
	case launch.ReplyAlways:
		_, decision = s.always()
	case launch.ReplyText:
		answers := map[string]any{}
		for i, q := range o.Questions {
			words := reply.Answers[i]
			if isChoice := slices.ContainsFunc(q.Choices, func(c launch.Choice) bool { return c.Label == words[0] }); !isChoice && len(q.Choices) > 0 {
				words = []string{"None of the above", "user_note: " + words[0]}
			}
			answers[q.ID] = map[string]any{"answers": words}
		}
		return map[string]any{"answers": answers}
	case launch.ReplyYes:
	}
	return map[string]any{"decision": decision}
}

// note keeps a request of the server, or that one was answered.
func (r *rpcClient) note(m storage.Object) {
	number := json.RawMessage(slices.Clone(m.Get("id").Raw()))
	switch method := m.Get("method").Text(discover.ErrorLimit); {
	case method == "serverRequest/resolved":
		r.resolved[string(m.Get("params").Object().Get("requestId").Raw())] = true
	case len(number) > 0:
		r.requests = append(r.requests, serverRequest{number, method, slices.Clone(m.Get("params").Object())})
	}
}
