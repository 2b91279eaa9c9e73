package webhook

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// request is a request that a server has received.
type request struct {
	method string
	header http.Header
	body   []byte
}

// respondWith returns a handler that responds with one status, and the requests that it receives.
func respondWith(status int) (http.HandlerFunc, *[]request) {
	var got []request
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got = append(got, request{r.Method, r.Header, body})
		if status >= 300 && status < 400 {
			w.Header().Set("Location", "/elsewhere")
		}
		w.WriteHeader(status)
	}, &got
}

func newEndpoint(url string) Endpoint { return Endpoint{URL: url, Secret: []byte("geheim")} }

// A body of any bytes arrives unchanged, with its signature.
func TestPostSendsBodyAndSignature(t *testing.T) {
	handler, got := respondWith(http.StatusNoContent)
	server := httptest.NewServer(handler)
	defer server.Close()
	e := newEndpoint(server.URL + "/hook?a=[1]&b={x,y}")
	bodies := []string{
		`{"a":"\"quoted\" \\ \u001b[31m @file =x # no comment"}`, "{\n\t\"ä\": \"\U0001F600\"\r\n}", strings.Repeat("x", 300_000), "",
	}
	for _, body := range bodies {
		if err := e.Post(t.Context(), "session.idle", []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if len(*got) != len(bodies) {
		t.Fatalf("%d posts, want %d", len(*got), len(bodies))
	}
	for i, r := range *got {
		signature := Sign(e.Secret, []byte(bodies[i]))
		for key, want := range map[string]string{
			"Content-Type": "application/json", "X-Agentctl-Event": "session.idle", "X-Agentctl-Signature": signature,
			"X-Hub-Signature-256": "sha256=" + signature,
		} {
			if r.header.Get(key) != want {
				t.Errorf("%s: %q, want %q", key, r.header.Get(key), want)
			}
		}
		if !bytes.Equal(r.body, []byte(bodies[i])) || r.method != http.MethodPost {
			t.Errorf("%s %.100q, want %.100q", r.method, r.body, bodies[i])
		}
	}
	e.Secret = nil
	if err := e.Post(t.Context(), "x", nil); err != nil || (*got)[len(*got)-1].header.Get("X-Hub-Signature-256") != "" {
		t.Errorf("%v, unsigned: %v", err, (*got)[len(*got)-1].header)
	}
}

// The example of GitHub's documentation.
func TestSignEqualsGitHubExample(t *testing.T) {
	const want = "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	if got := Sign([]byte("It's a Secret to Everybody"), []byte("Hello, World!")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestPostStatus(t *testing.T) {
	for status, temporary := range map[int]bool{201: false, 301: false, 307: false, 400: false, 404: false, 408: true, 429: true, 500: true, 503: true} {
		handler, got := respondWith(status)
		server := httptest.NewServer(handler)
		err := newEndpoint(server.URL).Post(t.Context(), "x", []byte("{}"))
		server.Close()
		statusError, ok := errors.AsType[*StatusError](err)
		if (status < 300) != (err == nil) || ok && statusError.Status != status || err != nil && isTemporary(err) != temporary {
			t.Errorf("%d: %v", status, err)
		}
		if len(*got) != 1 {
			t.Errorf("%d: %d requests", status, len(*got))
		}
	}
}

func TestCheckURL(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://localhost:8080/x": true, "https://user:pass@example.com/?q": true,
		"ftp://example.com": false, "example.com/x": false, "http:///x": false, "http://[": false, "file:///etc/passwd": false, "": false,
	} {
		if err := CheckURL(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// Temporary errors are retried with growing delays; permanent errors are not.
func TestRetry(t *testing.T) {
	network := errors.New("no route to host")
	for _, tc := range []struct {
		answers  []error
		attempts int
		elapsed  time.Duration
		ok       bool
	}{
		{[]error{nil}, 1, 0, true},
		{[]error{network, &StatusError{503}, nil}, 3, 3 * time.Second, true},
		{[]error{&StatusError{404}}, 1, 0, false},
		{[]error{&StatusError{429}, &StatusError{301}}, 2, time.Second, false},
		{[]error{network, network, network, network, network, network, network}, 7, 63 * time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			started, attempts := time.Now(), 0
			err := Retry(t.Context(), func() error { attempts++; return tc.answers[attempts-1] })
			if elapsed := time.Since(started); attempts != tc.attempts || elapsed != tc.elapsed || (err == nil) != tc.ok {
				t.Errorf("%v: %d attempts in %s, %v", tc.answers, attempts, elapsed, err)
			}
		})
	}
}

func TestRetryEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer stop()
		attempts := 0
		err := Retry(ctx, func() error { attempts++; return errors.New("away") })
		if !errors.Is(err, context.DeadlineExceeded) || attempts != 2 {
			t.Errorf("%v after %d attempts", err, attempts)
		}
	})
}
