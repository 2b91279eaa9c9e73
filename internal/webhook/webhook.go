// Package webhook posts JSON to a URL, signed, and again where that may help.
//
// It sends through curl(1): TLS of our own would make the binary larger than it may be, and curl knows the system's
// certificates and proxies. What it is told, the URL above all, does not stand in its command line, where any user's
// ps(1) would show it.
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

// Endpoint is where to post to.
type Endpoint struct {
	// URL is of http or https.
	URL string
	// Secret signs the bodies; empty: they are not signed.
	Secret []byte
	// Curl is the program's path, Environ what it is started with.
	Curl    string
	Environ []string
}

// CheckURL returns what is wrong with a URL; nil if nothing is.
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
	// maxURLLen is the most bytes that a URL may have: most servers take no more.
	maxURLLen = 8192
	// postTimeout is the most that one post may take.
	postTimeout = 10 * time.Second
)

// Post sends one body. Statuses from 200 to 299 are well; redirections are not followed. Errors: [*StatusError]; others,
// in curl's words, where there was no answer; the context's.
func (h Endpoint) Post(ctx context.Context, event string, body []byte) error {
	config, err := h.curlConfig(event, Sign(h.Secret, body))
	if err != nil {
		return err
	}
	defer config.Close()
	cmd := exec.CommandContext(ctx, h.Curl, "--disable", "--config", "/dev/fd/3")
	cmd.Env, cmd.ExtraFiles = h.Environ, []*os.File{config}
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

// curlConfig is a pipe that holds what curl is to do: curl(1), --config. The body is on its stdin.
func (h Endpoint) curlConfig(event, signature string) (*os.File, error) {
	var b strings.Builder
	set := func(name, value string) { fmt.Fprintf(&b, "%s = %s\n", name, quoteCurl(value)) }
	b.WriteString("silent\nshow-error\ngloboff\n")
	set("url", h.URL)
	set("proto", "=http,https")
	set("max-time", strconv.Itoa(int(postTimeout.Seconds())))
	set("output", "/dev/null")
	set("write-out", "%{http_code}")
	set("user-agent", "agentctl")
	set("header", "Content-Type: application/json")
	set("header", "Expect:") // no round trip before the body
	set("header", "X-Agentctl-Event: "+event)
	if len(h.Secret) > 0 {
		set("header", "X-Agentctl-Signature: "+signature)
		set("header", "X-Hub-Signature-256: sha256="+signature)
	}
	set("data-binary", "@-")
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = w.WriteString(b.String()) // a pipe has room for it, before anybody reads
	if err = errors.Join(err, w.Close()); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// quoteCurl is a value as curl's configuration has it.
func quoteCurl(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value) + `"`
}

// Sign is the HMAC-SHA256 of a body, in hexadecimal digits.
func Sign(secret, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// StatusError: the answer was not a good one.
type StatusError struct{ Status int }

func (e *StatusError) Error() string {
	if e.Status >= 300 && e.Status < 400 {
		return fmt.Sprintf("status %d; redirections are not followed", e.Status)
	}
	return fmt.Sprintf("status %d", e.Status)
}
