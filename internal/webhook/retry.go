package webhook

import (
	"context"
	"errors"
	"time"
)

// retryDelays are the delays between attempts: about a minute in all.
func retryDelays() []time.Duration {
	return []time.Duration{
		time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second,
	}
}

// Retry calls post until it succeeds, fails with a permanent error, or has failed after the last delay. It returns
// the error of the last attempt, or that of the context.
func Retry(ctx context.Context, post func() error) error {
	for _, delay := range retryDelays() {
		err := post()
		if err == nil || !isTemporary(err) || ctx.Err() != nil {
			return err
		}
		timer := time.NewTimer(delay)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return post()
}

// isTemporary reports whether a retry may succeed: after a network error, a server error, or a status that asks to
// try later.
func isTemporary(err error) bool {
	const requestTimeout, tooEarly, tooManyRequests = 408, 425, 429
	status, ok := errors.AsType[*StatusError](err)
	return !ok || status.Status >= 500 ||
		status.Status == requestTimeout || status.Status == tooEarly || status.Status == tooManyRequests
}
