package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/webhook"
	"agentctl/tests/must"
)

// The stream ends quietly once nobody reads it, though nothing happens that could be written.
func TestEventsEndWithTheirReader(t *testing.T) {
	f, out := testEnv(t)
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer w.Close()
	f.Stdout = w
	exit := make(chan int)
	go func() { exit <- Run(t.Context(), f, "events", "--initial") }()
	var got []string
	for lines := bufio.NewScanner(r); len(got) < 4 && lines.Scan(); {
		typ, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), `{"type":"`), `"`)
		got = append(got, typ)
	}
	if want := []string{"session.started", "session.running", "session.started", "session.running"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	r.Close()
	if code := <-exit; code != ExitNoReader || out.Stderr.Len() > 0 {
		t.Errorf("exit %d, %s", code, out.Stderr.String())
	}
}

func TestEventsRefuse(t *testing.T) {
	f, out := testEnv(t)
	for _, tc := range []struct {
		args string
		exit int
	}{
		{"--webhook ftp://x", ExitUsage},
		{"--webhook http://x --secret-env NOTHING_THERE", ExitUsage},
		{"--secret-env HOME", ExitUsage},
		{"--adapter vim", ExitUsage},
		{"--cwd /nowhere/at/all", ExitUsage},
		{"more", ExitUsage},
	} {
		if code := Run(t.Context(), f, append([]string{"events"}, strings.Fields(tc.args)...)...); code != tc.exit || out.Stdout.Len() > 0 {
			t.Errorf("%s: exit %d, %s%s", tc.args, code, out.Stdout.String(), out.Stderr.String())
		}
	}
}

// nth is a delivery that can be told from others.
func nth(i int) delivery {
	s := discover.UnknownSession()
	s.ID = fmt.Sprint(i)
	return delivery{object.NewEvent(watch.SessionIdle, time.Time{}, object.NewSession(s)), []byte(s.ID)}
}

// An outlet delivers in order, says what failed, and goes on.
func TestSinkDeliversInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, out := testEnv(t)
		ctx, stop := context.WithCancel(t.Context())
		var got []string
		o := newSink(ctx, f, "--exec", func(_ context.Context, d delivery) error {
			got = append(got, string(d.line))
			if string(d.line) == "2" {
				return errors.New("it is broken")
			}
			return nil
		})
		for i := range 4 {
			o.offer(nth(i))
		}
		synctest.Wait()
		stop()
		o.end()
		if !slices.Equal(got, []string{"0", "1", "2", "3"}) {
			t.Errorf("%v", got)
		}
		if want := "agentctl: warning: --exec: session.idle of 2: it is broken\n"; out.Stderr.String() != want {
			t.Errorf("%q, want %q", out.Stderr.String(), want)
		}
	})
}

// One that hangs holds up nobody: what it has no room for is lost, which is said once and counted in the end.
func TestSinkThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, out := testEnv(t)
		ctx, stop := context.WithCancel(t.Context())
		var begun sync.WaitGroup
		begun.Add(1)
		o := newSink(ctx, f, "--webhook", func(ctx context.Context, _ delivery) error {
			begun.Done()
			<-ctx.Done()
			return ctx.Err()
		})
		o.offer(nth(0))
		begun.Wait()
		for i := range queueSize + 5 {
			o.offer(nth(i))
		}
		stop()
		o.end()
		want := fmt.Sprintf("agentctl: warning: --webhook does not keep up: %d events wait, more are lost\n"+
			"agentctl: warning: --webhook: %d events were not delivered\n", queueSize, queueSize+6)
		if out.Stderr.String() != want {
			t.Errorf("%q, want %q", out.Stderr.String(), want)
		}
	})
}

// A webhook gets the line, signed by the secret of the environment.
func TestAnEventIsPosted(t *testing.T) {
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- strings.Join([]string{r.Header.Get("X-Agentctl-Event"), r.Header.Get("X-Agentctl-Signature"), string(body)}, " ")
	}))
	defer server.Close()
	f, _ := testEnv(t)
	f = Setenv(f, "OURS", "geheim")
	post := deliverToWebhook(f, &eventsOptions{webhook: server.URL, secretEnv: "OURS"})
	d := nth(7)
	must.Do(t, post(t.Context(), d))
	if want := "session.idle " + webhook.Sign([]byte("geheim"), d.line) + " 7"; <-got != want {
		t.Errorf("not %q", want)
	}
}
