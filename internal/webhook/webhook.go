// Package webhook posts signed JSON to a URL, with retries.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// Endpoint is a URL to post to.
type Endpoint struct {
	// URL has the scheme http or https.
	URL string
	// Secret is the key of the signature; empty: bodies are not signed.
	Secret []byte
}

// CheckURL returns an error if a URL is not valid for a webhook.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must be an http or https URL")
	case u.Host == "":
		return errors.New("must name a host")
	}
	return nil
}

// postTimeout limits one post.
const postTimeout = 10 * time.Second

// Post sends one body. Any status from 200 to 299 is success; redirects are not followed. The error is a
// [*StatusError], the error of the context, or why there was no response.
func (e Endpoint) Post(ctx context.Context, event string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("User-Agent", "agentctl")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Agentctl-Event", event)
	if len(e.Secret) > 0 {
		signature := Sign(e.Secret, body)
		r.Header.Set("X-Agentctl-Signature", signature)
		r.Header.Set("X-Hub-Signature-256", "sha256="+signature)
	}
	client := http.Client{Timeout: postTimeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(r)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if failed, ok := errors.AsType[*url.Error](err); ok { // its text has the URL, which may contain a secret
		return failed.Err
	}
	if err != nil {
		return err
	}
	_ = response.Body.Close() // nothing of it is read
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return &StatusError{response.StatusCode}
	}
	return nil
}

// Sign returns the HMAC-SHA256 of a body in hexadecimal.
func Sign(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// StatusError is a response with a status outside of 200 to 299.
type StatusError struct{ Status int }

func (e *StatusError) Error() string {
	if e.Status >= 300 && e.Status < 400 {
		return fmt.Sprintf("status %d; redirections are not followed", e.Status)
	}
	return fmt.Sprintf("status %d", e.Status)
}

// Retry calls post until it succeeds, fails with a permanent error, or has failed seven times in about a minute. It returns the error of
// the last attempt, or that of the context.
func Retry(ctx context.Context, post func() error) error {
	for delay := time.Second; ; delay *= 2 {
		err := post()
		if err == nil || !isTemporary(err) || ctx.Err() != nil || delay > time.Minute {
			return err
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isTemporary reports whether a retry may succeed: after a network error, a server error, or a status that asks to
// try later.
func isTemporary(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	return !ok || status.Status >= 500 || slices.Contains([]int{http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}, status.Status)
}
