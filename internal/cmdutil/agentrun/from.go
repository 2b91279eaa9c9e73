package agentrun

import (
	"context"
	"fmt"
	"math"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/export"
	"agentctl/internal/output"
	"agentctl/internal/redact"
)

// ReadFrom sets the context block of --from: what was said in another session of any agent, without secrets, and no longer than
// --max-file-size. The session is only read, so that it may be in a home that is not ours.
func (o *PromptOptions) ReadFrom(ctx context.Context, c *cmdutil.Call, verb string) error {
	r, err := c.Find(ctx, o.From, discover.ReadOptions{})
	if err != nil {
		return err
	}
	if len(r.Sessions) != 1 {
		return &discover.AmbiguousError{Arg: o.From, Candidates: r.Sessions, Total: len(r.Sessions)}
	}
	working, done := c.StartQuery(ctx, "reading "+output.Sanitize(o.From))
	s := r.Sessions[0]
	redactor := redact.New()
	session, failed := redact.Value(redactor, output.NewSession(s))
	quoted := export.Quote(session, func(yield func(output.Message) bool) {
		if s.Path == "" {
			return
		}
		for m, err := range c.Scanner.Messages(working, s) {
			if err != nil {
				r.Warnings = append(r.Warnings, cmdutil.UnreadWarning(s, err))
				continue
			}
			message, err := redact.Value(redactor, output.NewMessage(m, s))
			if err != nil {
				failed = err
			}
			if err != nil || !yield(message) {
				return
			}
		}
	}, int(min(o.maxFileSize, math.MaxInt32)))
	interrupted := working.Err()
	done()
	_ = c.ReportWarnings(r.Warnings) // what could be read is handed on
	switch {
	case interrupted != nil:
		return interrupted
	case failed != nil:
		return failed
	case quoted == "":
		return cmdutil.UsageError(verb, "--from: nothing was said in %s", cmdutil.SessionName(s))
	}
	o.quoted = discover.FormatContextFile(fmt.Sprintf("session %s", cmdutil.SessionName(s)), quoted)
	return nil
}
