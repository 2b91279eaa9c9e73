package cli

import (
	"context"

	"agentctl/internal/render"
	"agentctl/internal/webhook"
)

// execute returns a function that runs a script for each event, in the current directory: the session's may be gone.
func execute(f Factory, h Script) func(context.Context, delivery) error {
	return func(ctx context.Context, d delivery) error {
		s := d.event.Session
		vars := append(SessionVars(s), "AGENTCTL_EVENT="+d.event.Type, "AGENTCTL_STATUS="+s.Status,
			EnvVar("AGENTCTL_WAITING_ON", render.WaitingOnText(&s)))
		return h.Shell(ctx, f, "", d.line, vars)
	}
}

// poster returns a function that posts each event to the webhook; nil if there is none.
func poster(f Factory, o *eventsOptions) (func(context.Context, delivery) error, error) {
	if o.webhook == "" {
		return nil, nil
	}
	if err := webhook.CheckURL(o.webhook); err != nil {
		return nil, UsageError("events", "--webhook: %v", err)
	}
	w := webhook.Endpoint{URL: o.webhook, Secret: []byte(f.Getenv(o.secretEnv))}
	return func(ctx context.Context, d delivery) error {
		return webhook.Retry(ctx, func() error { return w.Post(ctx, d.event.Type, d.line) })
	}, nil
}
