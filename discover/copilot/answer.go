package copilot

import (
	"context"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// OpenRequests implements [launch.Adapter]. A terminal that was started with --ui-server lists its open requests for permission, those of sub-agents too.
// Nothing lists its questions (SEEN 1.0.102).
func (Adapter) OpenRequests(ctx context.Context, s discover.Session, _ launch.Environment) (out []launch.OpenRequest, err error) {
	list, err := callServer(ctx, s, "session.permissions.pendingRequests", map[string]string{"sessionId": s.ID})
	for v := range list.Get("items").Elements() {
		out = append(out, openRequest(v.Object()))
	}
	if err == nil && len(out) == 0 && s.WaitingFor == questionWord {
		err = unsupported("takes the answer to a question in its own terminal only")
	}
	return out, err
}

// openRequest describes a request for permission. The records have it under the same ID (SEEN 1.0.102), which is that of [discover.WaitingOn].
func openRequest(item storage.Object) launch.OpenRequest {
	r := item.Get("request").Object()
	o := launch.OpenRequest{ID: item.Get("requestId").Text(idLimit), Tool: r.Get("kind").Text(idLimit), Reason: r.Get("intention").Text(0)}
	o.Call = o.ID
	switch o.Tool {
	case commandsKind:
		o.Text = r.Get("fullCommandText").Text(0)
		if names := commandNames(r); len(names) > 0 && r.Get("canOfferSessionApproval").IsTrue() {
			o.Always = "allows the commands " + strings.Join(names, ", ") + " until the session ends; Copilot keeps that in memory"
		}
	case "write":
		o.Text = r.Get("diff").Text(0)
	}
	if o.Text == "" {
		o.Text = string(r)
	}
	return o
}

// commandsKind is the kind of a request to run commands.
const commandsKind = "commands"

// commandNames are the commands that a request is about.
func commandNames(request storage.Object) (names []string) {
	for v := range request.Get("commandIdentifiers").Elements() {
		names = append(names, v.Text(idLimit))
	}
	return names
}

// Answer implements [launch.Adapter]. The server takes the first answer to a request, and says of all others that they had no success (SEEN 1.0.102).
func (Adapter) Answer(ctx context.Context, s discover.Session, r launch.OpenRequest, reply launch.Reply, _ launch.Environment) error {
	result := map[string]any{"kind": "approve-once"}
	switch reply.Kind {
	case launch.ReplyNo:
		result = map[string]any{"kind": "reject", "feedback": reply.Reason}
	case launch.ReplyAlways:
		list, err := callServer(ctx, s, "session.permissions.pendingRequests", map[string]string{"sessionId": s.ID})
		if err != nil {
			return err
		}
		result = map[string]any{"kind": "approve-for-session"}
		for v := range list.Get("items").Elements() {
			if item := v.Object(); item.Get("requestId").Text(idLimit) == r.ID {
				result["approval"] = map[string]any{"kind": commandsKind, "commandIdentifiers": commandNames(item.Get("request").Object())}
			}
		}
		if result["approval"] == nil {
			return launch.ErrAnswered
		}
	case launch.ReplyYes, launch.ReplyText:
	}
	answer, err := callServer(ctx, s, "session.permissions.handlePendingPermissionRequest", map[string]any{"sessionId": s.ID, "requestId": r.ID, "result": result})
	if err == nil && !answer.Get("success").IsTrue() {
		err = launch.ErrAnswered
	}
	return err
}
