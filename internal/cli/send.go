package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
)

type sendOptions struct {
	CommonFlags
	timeout time.Duration
}

// defaultTimeout is how long the transcript may take to have the message: an agent that is at work reads it between two calls
// of tools, many of which take no longer.
const defaultTimeout = time.Minute

func sendCommand(env Env) *cli.Command {
	o := &sendOptions{timeout: defaultTimeout}
	return &cli.Command{
		Usage: "give a live session a message",
		Description: "send uses the agent's own channel for messages, never a terminal. With - for TEXT it reads stdin. Exit 0: the\n" +
			"session's transcript has the message; 124: handed over, not read in time; 7: the session takes no messages;\n" +
			"1: the session has ended before it read the message. Some agents tell the model that another session speaks.",
		ArgsUsage: "ID TEXT",
		Flags: []cli.Flag{
			DurationFlag("timeout", "how long the session may take to read the message: `D`", &o.timeout),
			AdapterFlag(&o.AdapterNames),
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but errors", Destination: &o.Quiet},
			JSONFlag(&o.JSON),
		},
		CustomHelpTemplate: HelpTemplate(`agentctl send 88d1d394 "also run the linter"`, "git diff | agentctl send 88d1d394 -", `agentctl send --timeout 10m 88d1d394 "commit when you are done"`),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			switch {
			case len(args) == 0:
				return UsageError("send", "send needs the ID of a session")
			case len(args) == 1:
				return UsageError("send", "send needs a message: TEXT, or - for stdin")
			case len(args) > 2:
				return UsageError("send", "send does not take the argument %q; quote the message", args[2])
			}
			return runSend(c.Context, env, args[0], args[1], o)
		},
	}
}

func runSend(ctx context.Context, env Env, arg, text string, o *sendOptions) error {
	c, calls, err := env.NewHostCall("send", &o.CommonFlags, nil, []string{arg}, "-")
	if err != nil {
		return err
	}
	message, err := readMessage(ctx, env, text)
	if err != nil {
		return err
	}
	for i := range calls {
		calls[i].Stdin = []byte(message)
	}
	const doing = "waiting until the session has read the message"
	return Each(ctx, c, calls, doing+" on", func(ctx context.Context, take func(object.SendResult) error) error {
		session, found, err := c.FindOne(ctx, arg, discover.ReadOptions{})
		if err != nil {
			return err
		}
		_ = c.ReportWarnings(found.Warnings) // the session is read again
		defer c.Progress(doing)()
		result, err := launch.SendMessage(ctx, c.Scanner, session, message, launch.NewEnvironment(env.Environ, env.Adapters), o.timeout)
		if stopped, ok := errors.AsType[*launch.StoppedError](err); ok {
			return ConflictError(DescribeSession(stopped.Session)+": it is stopped, and takes no messages", "agentctl resume "+render.Sanitize(arg)+" TEXT")
		}
		if err != nil {
			return answerError(session, err)
		}
		if err := take(sendResultObject(result)); err != nil {
			return err
		}
		return sendResultError(ctx, result, o)
	}, func(r object.SendResult) error {
		return PrintObject(c, r, func() (err error) {
			if r.Result == string(launch.Delivered) { // of others, the error says it
				_, err = fmt.Fprintf(c.Stdout, "%s  delivered\n", render.Sanitize(r.Session.Name()))
			}
			return err
		})
	})
}

func sendResultObject(r launch.SendResult) object.SendResult {
	out := object.SendResult{Result: string(r.Delivery), Refusal: r.Refusal, Session: object.NewSession(r.Session)}
	if r.Message != nil {
		out.Message = new(object.NewMessage(*r.Message, r.Session))
	}
	return out
}

// readMessage returns the message of the argument, or of stdin.
func readMessage(ctx context.Context, env Env, text string) (string, error) {
	if text == "-" {
		var err error
		if text, err = readStdin(ctx, env, "send", "message"); err != nil {
			return "", err
		}
	}
	message, err := launch.CheckMessage(text)
	if err != nil {
		err = UsageError("send", "%v", err)
	}
	return message, err
}

// sendResultError returns the error of a message that was accepted.
func sendResultError(ctx context.Context, r launch.SendResult, o *sendOptions) error {
	name := DescribeSession(r.Session)
	switch r.Delivery {
	case launch.Delivered:
		return nil
	case launch.Lost:
		why := cmp.Or(render.Sanitize(r.Refusal), "the message was not delivered")
		return fmt.Errorf("%s has ended before it read the message: %s", name, why)
	case launch.Dropped:
		return fmt.Errorf("%s has dropped the message: %s", name, render.Sanitize(r.Refusal))
	case launch.DeliveryUnknown:
		return fmt.Errorf("%s: the message was handed over, and whether the session has read it is not known: %w", name, r.Err)
	case launch.Accepted:
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	text := fmt.Sprintf("%s: the message was handed over, and not read within %s", name, o.timeout)
	switch {
	case r.Refusal != "":
		text += ": " + render.Sanitize(r.Refusal)
	case r.Session.Status == discover.Waiting && r.Session.WaitingFor != "":
		text += ": the session is waiting for its user (" + render.Sanitize(r.Session.WaitingFor) + ")"
		if on := render.WaitingOnText(new(object.NewSession(r.Session))); on != "" {
			text += ": " + on
		}
	}
	return TimeoutError(text, "it may still be read; agentctl logs -f "+render.Sanitize(r.Session.ID)+" shows when")
}
