package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
)

type answerOptions struct {
	CommonFlags
	request string
	force   bool
	timeout time.Duration
}

// answerTimeout is how long a session may take to go on after its agent has accepted the answer: OpenCode writes its log a second late.
const answerTimeout = 30 * time.Second

func answerCommand(env Env) *cli.Command {
	o := &answerOptions{timeout: answerTimeout}
	return &cli.Command{
		Usage:     "show what a waiting session asks, or answer it",
		UsageText: "agentctl answer [FLAGS] ID [yes|always|no [REASON]|TEXT…]",
		Description: "Without an answer, it prints the request whole. A request for permission takes yes, no or always; a question takes\n" +
			"one of its choices, or a TEXT, for each of its questions. The agent's own channel is used, never a terminal. Exit 0: the\n" +
			"session went on; 5: the request is not open any more, or is another one; 7: the agent takes the answer in its terminal only.",
		ArgsUsage: "ID [ANSWER]",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "request", Usage: "answer only the request with this `ID`, or that of its call: as --json and waitingOn show it", Destination: &o.request},
			DurationFlag("timeout", "how long the session may take to go on: `D`", &o.timeout),
			&cli.BoolFlag{Name: "force", Usage: "answer although this command runs inside of an agent's session", Destination: &o.force},
			AdapterFlag(&o.AdapterNames),
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but errors", Destination: &o.Quiet},
			JSONFlag(&o.JSON),
			FormatFlag(&o.Format),
			NoColorFlag(&o.NoColor),
		},
		CustomHelpTemplate: HelpTemplate("agentctl answer 88d1d394", `agentctl answer 88d1d394 no "use make test"`, `agentctl answer 88d1d394 "The second one"`),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) == 0 {
				return UsageError("answer", "answer needs the ID of a session")
			}
			return runAnswer(c.Context, env, args[0], args[1:], o)
		},
	}
}

func runAnswer(ctx context.Context, env Env, arg string, words []string, o *answerOptions) error {
	c, calls, err := env.NewHostCall("answer", &o.CommonFlags, object.Request{}, []string{arg}, words...)
	if err != nil {
		return err
	}
	if len(words) > 0 && !o.force {
		if err := c.checkNoAgent(ctx); err != nil {
			return err
		}
	}
	return Each(ctx, c, calls, "asking", func(ctx context.Context, take func(object.Request) error) error {
		return c.answer(ctx, arg, words, o, take)
	}, func(r object.Request) error {
		return PrintObject(c, r, func() (err error) {
			switch r.Result {
			case "":
				err = render.Request(c.Stdout, &r, c.Style)
			case string(launch.WentOn): // of others, the error says it
				_, err = fmt.Fprintln(c.Stdout, render.ReplyText(&r))
			}
			return err
		})
	})
}

// checkNoAgent refuses to answer from inside of an agent's session: an agent must not take the place of its user.
func (c *Call) checkNoAgent(ctx context.Context) error {
	r, err := c.enclosing(ctx)
	_, several := errors.AsType[*discover.AmbiguousError](err)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, discover.ErrNotFound):
		return nil
	case err != nil && !several:
		return fmt.Errorf("whether this command runs inside of an agent's session is not known: %w", err)
	}
	return ConflictError("this command runs inside of "+DescribeSession(r.Sessions[0])+", and an agent must not answer for its user", "--force, if the user wants it")
}

// answer passes on the open requests of a session, or answers one of them.
func (c *Call) answer(ctx context.Context, arg string, words []string, o *answerOptions, take func(object.Request) error) error {
	chosen, found, err := c.FindOne(ctx, arg, discover.ReadOptions{})
	if err != nil {
		return err
	}
	_ = c.ReportWarnings(found.Warnings) // the session is read again
	host := launch.NewEnvironment(c.Environ, c.Adapters)
	s, requests, err := launch.FindRequests(ctx, c.Scanner, chosen, host)
	_, unable := errors.AsType[*launch.UnsupportedError](err)
	switch {
	case err == nil && len(requests) == 0, unable && s.Status != discover.Waiting:
		return ConflictError(fmt.Sprintf("%s has no open request: it is %s", DescribeSession(s), s.Status), "")
	case unable && len(words) > 0:
		return UnableError(render.Sanitize(err.Error()), "agentctl attach "+render.Sanitize(arg)+" leads to its terminal")
	case unable:
		return take(unanswerable(ctx, c.Scanner, s, err))
	case err != nil:
		return answerError(chosen, err)
	}
	if len(words) == 0 && o.request == "" {
		return PrintEach(requests, func(r launch.OpenRequest) error { return take(requestObject(ctx, c.Scanner, s, r)) })
	}
	r, err := launch.Pick(requests, o.request)
	if err != nil {
		return answerError(s, err)
	}
	out := requestObject(ctx, c.Scanner, s, r)
	if len(words) == 0 {
		return take(out)
	}
	reply, err := replyTo(r, words)
	if err != nil {
		return err
	}
	defer c.Progress("waiting until the session goes on")()
	result, s, err := launch.GiveAnswer(ctx, c.Scanner, s, r, reply, host, o.timeout)
	if err != nil {
		return answerError(s, err)
	}
	out.Session, out.Reply, out.Result = object.NewSession(s), strings.Join(words, ", "), string(result)
	if err := take(out); err != nil {
		return err
	}
	return answerResultError(ctx, s, result, o)
}

// requestObject is the JSON object of an open request. What the agent does not say of it is that of the stored call.
func requestObject(ctx context.Context, scanner *discover.Scanner, s discover.Session, r launch.OpenRequest) object.Request {
	out := object.Request{
		Session: object.NewSession(s), ID: r.ID, Call: r.Call, Kind: "permission", Tool: r.Tool, Text: r.Text, Reason: r.Reason, CWD: r.Dir, Always: r.Always, No: r.No,
	}
	if len(r.Questions) > 0 {
		out.Kind = "question"
	} else if call := launch.FindCall(ctx, scanner, s, r.Call); out.Text == "" && call != nil {
		out.Text = render.InputText(call.Input)
	}
	out.Questions = convert(r.Questions, func(q launch.Question) object.Question {
		choices := convert(q.Choices, func(c launch.Choice) object.Choice { return object.Choice(c) })
		return object.Question{Header: q.Header, Text: q.Text, Choices: choices, Multiple: q.Multiple, FreeText: q.FreeText}
	})
	return out
}

// unanswerable is the JSON object of what a session waits on, as its storage has it, where it cannot be answered from here.
func unanswerable(ctx context.Context, scanner *discover.Scanner, s discover.Session, why error) object.Request {
	on := cmp.Or(s.WaitingOn, &discover.WaitingOn{})
	out := object.Request{
		Session: object.NewSession(s), Call: on.ID, Kind: cmp.Or(s.WaitingFor, "permission"), Tool: on.Tool, Text: on.Brief, Unanswerable: why.Error(),
	}
	call := launch.FindCall(ctx, scanner, s, on.ID)
	if call == nil {
		return out
	}
	var input struct {
		Questions []struct { // agents agree on these names
			Question, Header      string
			Options               []object.Choice
			Multiple, MultiSelect bool
		}
	}
	if s.WaitingFor == "question" && json.Unmarshal(call.Input, &input) == nil {
		for _, q := range input.Questions {
			out.Questions = append(out.Questions, object.Question{Header: q.Header, Text: q.Question, Choices: q.Options, Multiple: q.MultiSelect || q.Multiple})
		}
	}
	if out.Text = ""; len(out.Questions) == 0 {
		out.Text = render.InputText(call.Input)
	}
	return out
}

// replyTo returns the answer that the words mean to a request.
func replyTo(r launch.OpenRequest, words []string) (reply launch.Reply, err error) {
	if len(r.Questions) > 0 {
		if len(words) != len(r.Questions) {
			return reply, UsageError("answer", "it asks %d questions, and got %d answers; quote each", len(r.Questions), len(words))
		}
		reply.Kind = launch.ReplyText
		for i, q := range r.Questions {
			answer, err := answerTo(q, words[i])
			if err != nil {
				return reply, err
			}
			reply.Answers = append(reply.Answers, answer)
		}
		return reply, nil
	}
	reply.Kind = launch.ReplyKind(words[0])
	switch {
	case !isReplyWord(words[0]):
		return reply, UsageError("answer", "it asks for a permission: answer yes, no or always, not %q", words[0])
	case reply.Kind == launch.ReplyAlways && r.Always == "":
		return reply, UnableError("the agent does not offer always for this request", "yes allows this call")
	case reply.Kind == launch.ReplyNo && len(words) == 2:
		reply.Reason, err = launch.CheckMessage(words[1])
		if err != nil {
			return reply, UsageError("answer", "%v", err)
		}
	case len(words) > 1:
		return reply, UsageError("answer", "answer does not take the argument %q; quote a reason, which only no has", words[len(words)-1])
	}
	return reply, nil
}

// isReplyWord reports whether a word answers a request for permission.
func isReplyWord(word string) bool {
	return slices.Contains([]launch.ReplyKind{launch.ReplyYes, launch.ReplyNo, launch.ReplyAlways}, launch.ReplyKind(word))
}

// answerTo returns the choices that a text means, or the text itself. A word that answers a permission is no text: the user may not have expected a
// question.
func answerTo(q launch.Question, text string) ([]string, error) {
	var chosen []string
	choices := convert(q.Choices, func(c launch.Choice) string { return c.Label })
	index := func(text string) int {
		return slices.IndexFunc(choices, func(label string) bool { return strings.EqualFold(label, strings.TrimSpace(text)) })
	}
	parts := []string{text}
	if q.Multiple && index(text) < 0 {
		parts = strings.Split(text, ",")
	}
	for _, part := range parts {
		if i := index(part); i >= 0 {
			chosen = append(chosen, choices[i])
		}
	}
	if len(chosen) == len(parts) {
		return chosen, nil
	}
	shown := render.Sanitize(strings.Join(choices, ", "))
	switch {
	case isReplyWord(text):
		return nil, ConflictError("it asks a question, not for a permission: "+render.Sanitize(q.Text), "its choices: "+shown)
	case !q.FreeText:
		return nil, UsageError("answer", "%q is none of its choices: %s", text, shown)
	}
	text, err := launch.CheckMessage(text)
	if err != nil {
		return nil, UsageError("answer", "%v", err)
	}
	return []string{text}, nil
}

// answerError returns the error of a message or an answer that was not accepted: with the session, unless the error names it.
func answerError(s discover.Session, err error) error {
	_, untrusted := errors.AsType[*discover.UntrustedError](err)
	_, unable := errors.AsType[*launch.UnsupportedError](err)
	if errors.Is(err, context.Canceled) || untrusted || unable {
		return err
	}
	return fmt.Errorf("%s: %w", DescribeSession(s), err)
}

// answerResultError returns the error of an answer that was accepted.
func answerResultError(ctx context.Context, s discover.Session, result launch.Answered, o *answerOptions) error {
	name := DescribeSession(s)
	switch result {
	case launch.WentOn:
		return nil
	case launch.Contradicted:
		return ConflictError(name+" went on with another answer, which was given at the same time", "agentctl peek "+render.Sanitize(s.ID)+" shows what became of it")
	case launch.Ended:
		return fmt.Errorf("%s has ended before it went on: whether the answer had an effect is not known", name)
	case launch.NotSeen:
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return TimeoutError(fmt.Sprintf("%s has accepted the answer, and was not seen to go on within %s", name, o.timeout), "agentctl status "+render.Sanitize(s.ID)+" shows whether it waits")
}
