package cli

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"slices"

	"agentctl/discover"
	"agentctl/internal/export"
	"agentctl/internal/object"
	"agentctl/internal/redact"
	"agentctl/internal/remote"
	"agentctl/internal/render"
)

// quotedSession is the session of --from with its messages, the newest first.
type quotedSession struct {
	session  object.Session
	messages iter.Seq[object.Message]
}

// ReadFrom sets the context block of --from: what was said in another session of any agent, on this machine or another one, without secrets, and no
// longer than --max-file-size.
func (o *PromptOptions) ReadFrom(ctx context.Context, c *Call, verb string) error {
	read := o.readHere
	if _, _, ok := remote.SplitID(o.From); ok {
		read = o.readOnHost
	}
	limit := int(min(o.maxFileSize, math.MaxInt32))
	name, quoted := "", ""
	err := read(ctx, c, func(q quotedSession) error {
		redactor := redact.New()
		session, failed := redact.Value(redactor, q.session)
		quoted = export.Quote(session, func(yield func(object.Message) bool) {
			for m := range q.messages {
				message, err := redact.Value(redactor, m)
				if err != nil {
					failed = err
				}
				if err != nil || !yield(message) {
					return
				}
			}
		}, limit)
		name = q.session.Name()
		return failed
	})
	switch {
	case err != nil:
		return err
	case quoted == "":
		return UsageError(verb, "--from: nothing was said in %s", name)
	}
	o.quoted = discover.FormatContextFile("session "+name, quoted)
	return nil
}

// readHere reads a session of this machine, which may be in a home that is not ours.
func (o *PromptOptions) readHere(ctx context.Context, c *Call, use func(quotedSession) error) error {
	s, r, err := c.FindOne(ctx, o.From, discover.ReadOptions{})
	if err != nil {
		return err
	}
	working, done := c.StartWork(ctx, "reading "+render.Sanitize(o.From))
	failed := use(quotedSession{object.NewSession(s), func(yield func(object.Message) bool) {
		if s.Path == "" {
			return
		}
		for m, err := range c.Scanner.Messages(working, s) {
			if err != nil {
				r.Warnings = append(r.Warnings, UnreadWarning(s, err))
				continue
			}
			if !yield(object.NewMessage(m, s)) {
				return
			}
		}
	}})
	interrupted := working.Err()
	done()
	_ = c.ReportWarnings(r.Warnings) // what could be read is handed on
	return cmp.Or(interrupted, failed)
}

// readOnHost reads a session of another machine, of which the host exports all but the input and output of tools.
func (o *PromptOptions) readOnHost(ctx context.Context, c *Call, use func(quotedSession) error) error {
	call, err := c.HostCall(o.From)
	if err != nil {
		return err
	}
	call.Args = []string{"export", "--json", "--tools=brief", "--", call.ID()}
	var exports []object.Export
	err = GatherExports(ctx, c, []HostCall{call}, func(e object.Export) error {
		exports = append(exports, e)
		return nil
	})
	switch partial := errors.Is(err, ErrPartial); {
	case err != nil && (!partial || len(exports) == 0): // of a session that could be read in part, that is handed on
		return err
	case len(exports) != 1:
		sessions := make([]object.Session, len(exports))
		for i, e := range exports {
			sessions[i] = e.Session
		}
		return AmbiguousOnHost(o.From, sessions)
	}
	messages := exports[0].Messages
	return use(quotedSession{exports[0].Session, func(yield func(object.Message) bool) {
		for _, m := range slices.Backward(messages) {
			if !yield(m) {
				return
			}
		}
	}})
}
