package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/internal/webhook"
)

type eventsOptions struct {
	CommonFlags
	types              cli.StringSlice
	initial, children  bool
	quiet              bool // no events on stdout
	scope              Scope
	script             string
	webhook, secretEnv string
	quietFor           time.Duration
}

func eventsCommand(env Env) *cli.Command {
	o := &eventsOptions{}
	return &cli.Command{
		Usage: "print session events as they happen, one JSON object a line",
		Description: "A session starts, runs, waits for you, becomes idle, fails or stops. Each event contains the whole session.\n" +
			"The command runs until it is interrupted (exit 130) or the reader of its output closes the pipe.",
		Flags: slices.Concat([]cli.Flag{
			ListFlag("type", "only events of this `TYPE`, such as session.waiting", &o.types),
			&cli.BoolFlag{Name: "initial", Usage: "first print the sessions that are already live, as if they had just started", Destination: &o.initial},
			DurationFlag("quiet-for", "also tell when nothing of a running session has moved for `D`, and nothing explains that: session.quiet", &o.quietFor),
			AdapterFlag(&o.AdapterNames),
		}, o.scope.Flags("only"), []cli.Flag{
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' sessions", Destination: &o.children},
			&cli.StringFlag{Name: "exec", Usage: "run the shell command `CMD` for each event, with the event on its stdin", Destination: &o.script},
			&cli.StringFlag{Name: "webhook", Usage: "post each event to `URL`, signed if there is a secret", Destination: &o.webhook},
			&cli.StringFlag{Name: "secret-env", Usage: "read the secret from the environment variable `NAME`", Value: "AGENTCTL_WEBHOOK_SECRET", Destination: &o.secretEnv},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print no events; use it with --exec or --webhook", Destination: &o.quiet},
			FormatFlag(&o.Format),
			JSONFlag(&o.JSON),
		}),
		CustomHelpTemplate: HelpTemplate("agentctl events --initial --repo .", `agentctl events --type session.waiting --quiet --exec 'notify-send "$AGENTCTL_ADAPTER waits"'`),
		Action: func(c *cli.Context) error {
			if o.quiet && o.script == "" && o.webhook == "" {
				return UsageError("events", "--quiet needs --exec or --webhook")
			}
			if c.IsSet("secret-env") && o.webhook == "" {
				return UsageError("events", "--secret-env needs --webhook")
			}
			if c.IsSet("secret-env") && env.Getenv(o.secretEnv) == "" {
				return UsageError("events", "--secret-env: the environment has no %s", o.secretEnv)
			}
			if err := webhook.CheckURL(o.webhook); o.webhook != "" && err != nil {
				return UsageError("events", "--webhook: %v", err)
			}
			return runEvents(c.Context, env, o)
		},
	}
}

func runEvents(ctx context.Context, env Env, o *eventsOptions) error {
	c, calls, err := env.NewHostCall("events", &o.CommonFlags, object.Event{}, nil)
	if err != nil {
		return err
	}
	types, err := SplitWords("event type", o.types.Value(), object.EventTypes())
	if err != nil {
		return err
	}
	if o.quietFor == 0 && slices.Contains(types, string(watch.SessionQuiet)) {
		o.quietFor = usualQuiet
	}
	ctx, stop := Interruptible(ctx)
	defer stop()
	ctx, hangup := CancelOnHangup(ctx, env.Stdout)
	defer hangup(nil)
	var sinks []*sink
	if o.script != "" {
		sinks = append(sinks, newSink(ctx, env, "--exec", deliverToScript(env, Script{Flag: "--exec", Command: o.script})))
	}
	if o.webhook != "" {
		sinks = append(sinks, newSink(ctx, env, "--webhook", deliverToWebhook(env, o)))
	}
	out := env.Stdout
	if o.quiet {
		out = io.Discard
	}
	err = Each(ctx, c, calls, "", func(ctx context.Context, take func(object.Event) error) error {
		return followEvents(ctx, c, o, take)
	}, func(e object.Event) error {
		if len(types) > 0 && !slices.Contains(types, e.Type) {
			return nil
		}
		return publishEvent(ctx, out, e, c.Template, sinks)
	})
	if cause := context.Cause(ctx); errors.Is(cause, syscall.EPIPE) {
		err = cause // the reader has closed the pipe
	}
	hangup(nil)
	for _, o := range sinks {
		o.end()
	}
	return EndOfStream(err)
}

// followEvents calls publish with the events of this machine as they happen, until the context ends or publish fails.
func followEvents(ctx context.Context, c *Call, o *eventsOptions, publish func(object.Event) error) error {
	filter := discover.SessionFilter{Agents: c.Agents, Subagents: o.children}
	var err error
	if filter.Condition, err = o.scope.Match("events"); err != nil {
		return err
	}
	var one sync.Mutex
	publishOne := func(e object.Event) error {
		one.Lock()
		defer one.Unlock()
		return publish(e)
	}
	group, ctx := errgroup.WithContext(ctx)
	if o.quietFor > 0 {
		group.Go(func() error { return quietFinder{call: c, filter: filter, longer: o.quietFor}.follow(ctx, publishOne) })
	}
	watcher := watch.NewFilterWatcher(c.Scanner, filter)
	first := true
	group.Go(func() error {
		return EachResult(ctx, watcher, func(r discover.Result) (bool, error) {
			_ = c.ReportWarnings(r.Warnings)
			for _, e := range watcher.Events() {
				if first && !o.initial {
					break
				}
				if err := publishOne(object.NewEvent(e.Type, e.Time, object.NewSession(e.Session))); err != nil {
					return false, err
				}
			}
			first = false
			return true, nil
		})
	})
	return group.Wait()
}

// publishEvent prints an event, as JSON or by --format, and queues it in the sinks as JSON.
func publishEvent(ctx context.Context, out io.Writer, e object.Event, template func(io.Writer, any) error, sinks []*sink) error {
	var line bytes.Buffer
	if err := render.JSONLine(&line, e); err != nil {
		return err
	}
	printed := line
	if template != nil {
		printed = bytes.Buffer{}
		if err := template(&printed, e); err != nil {
			return err
		}
	}
	if _, err := (ContextWriter{Context: ctx, Out: out}).Write(printed.Bytes()); err != nil {
		return err
	}
	for _, o := range sinks {
		o.offer(delivery{e, line.Bytes()})
	}
	return nil
}

// deliverToScript returns a function that runs a script for each event, in the current directory: the session's may be gone.
func deliverToScript(env Env, h Script) func(context.Context, delivery) error {
	return func(ctx context.Context, d delivery) error {
		s := d.event.Session
		vars := append(SessionVars(s), "AGENTCTL_EVENT="+d.event.Type, "AGENTCTL_STATUS="+s.Status,
			EnvVar("AGENTCTL_WAITING_ON", render.WaitingOnText(&s)))
		return h.Shell(ctx, env, "", d.line, vars)
	}
}

// deliverToWebhook returns a function that posts each event to the webhook.
func deliverToWebhook(env Env, o *eventsOptions) func(context.Context, delivery) error {
	w := webhook.Endpoint{URL: o.webhook, Secret: []byte(env.Getenv(o.secretEnv))}
	return func(ctx context.Context, d delivery) error {
		return webhook.Retry(ctx, func() error { return w.Post(ctx, d.event.Type, d.line) })
	}
}

// queueSize bounds the events that wait for delivery.
const queueSize = 1000

// delivery is an event with its line of JSON.
type delivery struct {
	event object.Event
	line  []byte
}

// sink delivers events one after the other, in order, in a goroutine of its own, so that the caller never waits. Events
// that the queue has no room for are lost, with a warning.
type sink struct {
	env    Env
	flag   string // names it in messages
	queue  chan delivery
	full   bool // the last one was lost
	lost   int
	cut    int // whose delivery was cut short
	worker sync.WaitGroup
}

// newSink makes a sink that delivers until ctx ends.
func newSink(ctx context.Context, env Env, flag string, deliver func(context.Context, delivery) error) *sink {
	o := &sink{env: env, flag: flag, queue: make(chan delivery, queueSize)}
	o.worker.Go(func() {
		for {
			select {
			case d := <-o.queue:
				err := deliver(ctx, d)
				if err != nil && ctx.Err() != nil {
					o.cut++
					return
				}
				if err != nil {
					env.Warn(fmt.Sprintf("%s: %s of %s: %v", flag, d.event.Type, d.event.Session.Name(), err))
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return o
}

// offer queues an event, or loses it. It must be called by one goroutine only.
func (s *sink) offer(d delivery) {
	select {
	case s.queue <- d:
		s.full = false
	default:
		s.lost++
		if !s.full {
			s.full = true
			s.env.Warn(fmt.Sprintf("%s does not keep up: %d events wait, more are lost", s.flag, queueSize))
		}
	}
}

// end returns once nothing is delivered any more, and reports the events that were not; the sink's context must have
// ended.
func (s *sink) end() {
	s.worker.Wait()
	if n := s.lost + s.cut + len(s.queue); n > 0 {
		s.env.Warn(fmt.Sprintf("%s: %d events were not delivered", s.flag, n))
	}
}
