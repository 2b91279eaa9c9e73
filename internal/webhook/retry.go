package webhook

import (
	"context"
	"errors"
	"time"
)

// retryDelays are those between the tries of one post: about a minute in all.
func retryDelays() []time.Duration {
	return []time.Duration{
		time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second,
	}
}

// Retry calls post until it is well, or there is no use in trying once more. The error is that of the last try, or the
// context's.
func Retry(ctx context.Context, post func() error) error {
	for _, pause := range retryDelays() {
		err := post()
		if err == nil || !isTemporary(err) || ctx.Err() != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
	return post()
}

// isTemporary reports whether an error may be over soon: the network's, the server's own, or that it has too much to do.
func isTemporary(err error) bool {
	const timeout, early, busy = 408, 425, 429
	bad, ok := errors.AsType[*StatusError](err)
	return !ok || bad.Status >= 500 || bad.Status == timeout || bad.Status == early || bad.Status == busy
}
