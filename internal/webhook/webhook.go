// Package webhook posts signed JSON to a URL, with retries.
//
// It runs curl(1). TLS of our own would make the binary larger than its limit, and curl knows the certificates and
// proxies of the system. The URL and all other options go through a pipe, because any user can read the command
// line of a process with ps(1).
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Endpoint is a URL to post to.
type Endpoint struct {
	// URL has the scheme http or https.
	URL string
	// Secret is the key of the signature; empty: bodies are not signed.
	Secret []byte
	// Curl is the path of curl, Environ its environment.
	Curl    string
	Environ []string
}

// CheckURL returns an error if a URL is not valid for a webhook.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("must be an http or https URL")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must be an http or https URL")
	case u.Host == "":
		return errors.New("must name a host")
	case len(address) > maxURLLen:
		return errors.New("it is too long")
	}
	return nil
}

const (
	// maxURLLen is the maximum length of a URL in bytes: most servers accept no more.
	maxURLLen = 8192
	// postTimeout limits one post.
	postTimeout = 10 * time.Second
)

// Post sends one body. Any status from 200 to 299 is success; redirects are not followed. The error is a
// [*StatusError], the error of the context, or the message of curl if there was no response.
func (e Endpoint) Post(ctx context.Context, event string, body []byte) error {
	config, err := e.curlConfig(event, Sign(e.Secret, body))
	if err != nil {
		return err
	}
	defer config.Close()
	cmd := exec.CommandContext(ctx, e.Curl, "--disable", "--config", "/dev/fd/3")
	cmd.Env, cmd.ExtraFiles = e.Environ, []*os.File{config}
	cmd.Stdin = bytes.NewReader(body)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return errors.New(cmp.Or(strings.TrimSpace(stderr.String()), err.Error()))
	}
	status, err := strconv.Atoi(strings.TrimSpace(stdout.String()))
	if err != nil {
		return fmt.Errorf("curl says %q instead of a status", stdout.String())
	}
	if status < 200 || status > 299 {
		return &StatusError{status}
	}
	return nil
}

// curlConfig returns the read end of a pipe that contains the options, in the format of curl --config. The body
// goes to stdin.
func (e Endpoint) curlConfig(event, signature string) (*os.File, error) {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s = %s\n", name, quoteCurl(value)) }
	b.WriteString("silent\nshow-error\ngloboff\n")
	set("url", e.URL)
	set("proto", "=http,https")
	set("max-time", strconv.Itoa(int(postTimeout.Seconds())))
	set("output", "/dev/null")
	set("write-out", "%{http_code}")
	set("user-agent", "agentctl")
	set("header", "Content-Type: application/json")
	set("header", "Expect:") // no round trip before the body
	set("header", "X-Agentctl-Event: "+event)
	if len(e.Secret) > 0 {
		set("header", "X-Agentctl-Signature: "+signature)
		set("header", "X-Hub-Signature-256: sha256="+signature)
	}
	set("data-binary", "@-")
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = w.WriteString(b.String()) // fits into the buffer of a pipe, so it cannot block
	if err = errors.Join(err, w.Close()); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// quoteCurl quotes a value for a curl configuration file.
func quoteCurl(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value) + `"`
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
