package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/output"
)

type eventsOptions struct {
	common
	types              cli.StringSlice
	initial, children  bool
	silent             bool // no events on stdout
	scope              scope
	script             string
	webhook, secretEnv string
}

// secretKey is the variable that signs webhooks, unless --secret-env names another one.
const secretKey = "AGENTCTL_WEBHOOK_SECRET"

func newEvents(env Env) *cli.Command {
	o := &eventsOptions{}
	return &cli.Command{
		Usage:     "print session events as they happen, one JSON object a line",
		UsageText: "agentctl events [FLAGS]",
		Description: "A session starts, runs, waits for you, becomes idle, fails or stops. Each event contains the whole session.\n" +
			"The command runs until it is interrupted (exit 130) or the reader of its output closes the pipe.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "type", Usage: "only events of this `TYPE`, such as session.waiting (may be repeated)", Destination: &o.types},
			&cli.BoolFlag{Name: "initial", Usage: "print sessions that are already live first, as if they had just started", Destination: &o.initial},
			adapterFlag(&o.adapters),
		}, o.scope.flags("only"), []cli.Flag{
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' sessions", Destination: &o.children},
			&cli.StringFlag{Name: "exec", Usage: "run the shell command `CMD` for each event, with the event on its stdin", Destination: &o.script},
			&cli.StringFlag{Name: "webhook", Usage: "post each event to `URL`, signed if there is a secret; needs curl", Destination: &o.webhook},
			&cli.StringFlag{Name: "secret-env", Usage: "read the secret from the environment variable `NAME`", Value: secretKey, Destination: &o.secretEnv},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print no events; use it with --exec or --webhook", Destination: &o.silent},
			formatFlag(&o.format, "{{.type}} {{.session.id}}"),
			jsonFlag(&o.json),
		}),
		Action: func(c *cli.Context) error {
			if o.silent && o.script == "" && o.webhook == "" {
				return badUsage("events", "--quiet needs --exec or --webhook")
			}
			if c.IsSet("secret-env") && o.webhook == "" {
				return badUsage("events", "--secret-env needs --webhook")
			}
			if c.IsSet("secret-env") && env.Getenv(o.secretEnv) == "" {
				return badUsage("events", "--secret-env: the environment has no %s", o.secretEnv)
			}
			return env.events(c.Context, o)
		},
	}
}

func (env Env) events(ctx context.Context, o *eventsOptions) error {
	c, err := env.call("events", &o.common, output.Event{})
	if err != nil {
		return err
	}
	sel := discover.SessionFilter{Agents: c.agents, Subagents: o.children}
	if sel.Condition, err = o.scope.match("events"); err != nil {
		return err
	}
	types, err := split("event type", o.types.Value(), eventTypes())
	if err != nil {
		return err
	}
	poster, err := env.poster(o)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx)
	defer stop()
	ctx, hangup := readable(ctx, env.Stdout)
	defer hangup(nil)
	var outlets []*outlet
	if o.script != "" {
		outlets = append(outlets, env.newOutlet(ctx, "--exec", env.execute(hook{"--exec", o.script})))
	}
	if poster != nil {
		outlets = append(outlets, env.newOutlet(ctx, "--webhook", poster))
	}
	out := env.Stdout
	if o.silent {
		out = io.Discard
	}
	watcher := watch.NewFilterWatcher(c.world, sel)
	first := true
	err = each(ctx, watcher, func(r discover.Result) (bool, error) {
		_ = env.warn(r.Warnings)
		events := watcher.Events()
		if first && !o.initial {
			events = nil
		}
		first = false
		return true, publish(ctx, out, ofTypes(events, types), c.template, outlets)
	})
	if cause := context.Cause(ctx); errors.Is(cause, syscall.EPIPE) {
		err = cause // nobody reads any more
	}
	hangup(nil)
	for _, o := range outlets {
		o.end()
	}
	return err
}

// eventTypes are the words that --type takes.
func eventTypes() []string {
	return []string{
		string(watch.SessionStarted), string(watch.SessionRunning), string(watch.SessionWaiting),
		string(watch.SessionIdle), string(watch.SessionError), string(watch.SessionStopped),
	}
}

// ofTypes are the events of these types; of all if there are none.
func ofTypes(events []watch.Event, types []string) []watch.Event {
	if len(types) == 0 {
		return events
	}
	return slices.DeleteFunc(slices.Clone(events), func(e watch.Event) bool { return !slices.Contains(types, string(e.Type)) })
}

// publish prints events, by a format if there is one, and hands them to the outlets as JSON.
func publish(ctx context.Context, out io.Writer, events []watch.Event, template func(io.Writer, any) error, outlets []*outlet) error {
	for _, e := range events {
		var line bytes.Buffer
		if err := output.JSONLine(&line, output.NewEvent(e)); err != nil {
			return err
		}
		printed := line
		if template != nil {
			printed = bytes.Buffer{}
			if err := template(&printed, output.NewEvent(e)); err != nil {
				return err
			}
		}
		if _, err := (impatient{ctx, out}).Write(printed.Bytes()); err != nil {
			return err
		}
		for _, o := range outlets {
			o.offer(delivery{e, line.Bytes()})
		}
	}
	return nil
}
