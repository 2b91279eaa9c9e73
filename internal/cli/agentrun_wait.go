package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/launch/stop"
)

// Print prints the session of an agent that was started alone as JSON, and waits for its end with --wait. With --wait
// the JSON describes the end. failed is the error of the start; nothing is waited for after one.
func (l *Launched) Print(ctx context.Context, failed error) error {
	if l.Session.ID == "" {
		return failed
	}
	if l.Proven && l.JSON && !l.Wait {
		l.Refresh(context.WithoutCancel(ctx), discover.ReadOptions{})
		if err := render.JSON(l.Stdout, object.NewSession(l.Session)); err != nil {
			return err
		}
	}
	if l.Wait && !errors.Is(failed, context.Canceled) {
		return l.printEnd(ctx, failed)
	}
	return failed
}

// printEnd waits until the session has stopped, prints its end, and returns the error of its turn. After an error of the
// start it does not wait, but prints the end all the same.
func (l *Launched) printEnd(ctx context.Context, failed error) error {
	err := failed
	if failed == nil {
		err = l.WaitForEnd(ctx)
	}
	if errors.Is(err, context.Canceled) {
		l.Report.Note(fmt.Sprintf("%s keeps running; agentctl stop %s ends it", DescribeSession(l.Session), render.Sanitize(l.Session.ID)))
		return err
	}
	answer := ""
	if err == nil && !l.Quiet {
		answer = l.ReadAnswer(ctx)
	}
	printed := error(nil)
	if l.JSON {
		l.Refresh(ctx, discover.ReadOptions{Full: true, Tokens: true})
		obj := object.NewSession(l.Session)
		obj.Answer = answer
		printed = render.JSON(l.Stdout, obj)
	} else if text := strings.TrimRight(render.SanitizeLines(answer), "\n"); text != "" {
		_, printed = fmt.Fprintln(l.Stdout, text)
	}
	if printed != nil {
		return printed
	}
	return errors.Join(err, l.RunOnComplete(ctx, err))
}

// WaitForEnd waits until the session has stopped and returns the error that it ended with.
func (l *Launched) WaitForEnd(ctx context.Context) error {
	err := Until(ctx, l.Call, []discover.Session{l.Session}, Stopped, l.maxTime, func(now discover.Session) error {
		l.Update(now)
		return nil
	})
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case ExitCode(err) == ExitTimeout:
		return l.stopOverdue(ctx)
	case endsSoon(l.execution):
		return agentrunTurnError(err, l.Failure(ctx))
	}
	return err
}

// RunOnComplete runs the script of --on-complete. err is the error of the start or of the turn.
func (l *Launched) RunOnComplete(ctx context.Context, err error) error {
	code := exitCode(l.execution, err)
	return Script{Flag: "--on-complete", Command: l.onComplete}.Run(ctx, l.Factory, l.Session, &code)
}

// endsSoon waits a moment for the process to end: a launcher ends soon after the agent that it has started.
func endsSoon(x *launch.Execution) bool {
	select {
	case <-x.Done():
		return true
	case <-time.After(GracePeriod):
		return false
	}
}

// agentrunTurnError combines two errors of a turn: stored is what storage says, own what the agent's exit code and output say.
// The agent's own error says more, and decides where storage does not know.
func agentrunTurnError(stored, own error) error {
	if own != nil || errors.Is(stored, ErrPartial) {
		return own
	}
	return stored
}

// stopOverdue stops a session that exceeds --max-time.
func (l *Launched) stopOverdue(ctx context.Context) error {
	working, done := l.StartWork(ctx, "stopping")
	defer done()
	results, err := stop.Sessions(working, l.Scanner, []discover.Session{l.Session}, stop.Options{
		Timeout: StopTimeout, Force: true, SelfPID: l.PID, Host: launch.NewEnvironment(l.Environ, l.Adapters),
	})
	message := fmt.Sprintf("%s took longer than --max-time %s", DescribeSession(l.Session), l.maxTime)
	if err := errors.Join(err, StopError(results)); err != nil {
		return errors.Join(err, TimeoutError(message, ""))
	}
	return TimeoutError(message+"; it was stopped", "agentctl resume continues it")
}

// exitCode is the agent's exit code, as a shell counts it after a signal. While the agent lives it is the code that
// this command will end with.
func exitCode(x *launch.Execution, err error) int {
	if !x.HasEnded() {
		return ExitCode(err)
	}
	exit := x.ExitStatus()
	if exit.Signal != 0 {
		return 128 + int(exit.Signal)
	}
	return exit.Code
}

// ReadAnswer returns the last text of the assistant in the turn that was started, as stored; "" if there is none. An
// unreadable transcript is a warning.
func (l *Launched) ReadAnswer(ctx context.Context) string {
	if l.Session.Path == "" {
		return ""
	}
	text, err := answerIn(l.Scanner.Messages(ctx, l.Session), l.Session.ID, l.execution.StartTime)
	if err != nil {
		_ = l.ReportWarnings([]*discover.Warning{UnreadWarning(l.Session, err)})
	}
	return text
}

// answerIn returns the newest text of the assistant in a session's newest turn. messages come newest first. The turn
// begins with the newest prompt, and no message of it is older than since: not every prompt is stored as the user's
// text. If a part cannot be read before a text is found, the text could be an older one, so answerIn returns none.
func answerIn(messages iter.Seq2[discover.Message, error], session string, since time.Time) (string, error) {
	for m, err := range messages {
		if err != nil {
			return "", err
		}
		switch {
		case m.Session != session: // a sub-agent's
		case !m.Time.IsZero() && m.Time.Before(since), m.Kind == discover.KindInterruption:
			return "", nil
		case m.Kind != discover.KindText || strings.TrimSpace(m.Text) == "":
		case m.Role == discover.RoleUser:
			return "", nil
		case m.Role == discover.RoleAssistant:
			return m.Text, nil
		}
	}
	return "", nil
}
