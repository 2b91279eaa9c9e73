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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/output"
	"agentctl/internal/webhook"
)

// The stream ends quietly once nobody reads it, though nothing happens that could be written.
func TestEventsEndWithTheirReader(t *testing.T) {
	env, out := testEnv(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	env.Stdout = w
	exit := make(chan int)
	go func() { exit <- Run(t.Context(), env, "events", "--initial") }()
	var got []string
	for lines := bufio.NewScanner(r); len(got) < 4 && lines.Scan(); {
		typ, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), `{"type":"`), `"`)
		got = append(got, typ)
	}
	if want := []string{"session.started", "session.running", "session.started", "session.running"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	r.Close()
	if code := <-exit; code != exitNoReader || out.stderr.Len() > 0 {
		t.Errorf("exit %d, %s", code, out.stderr.String())
	}
}

// A reader that does not read cannot keep us from ending.
func TestWritingEndsWithTheContext(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	text := make([]byte, 1<<20) // more than a pipe holds
	go func() { _, _ = r.Read(make([]byte, 1)); stop() }()
	if _, err := (impatient{ctx, w}).Write(text); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	r.Close() // and with it ends what still writes
	w.Close()
}

func TestEventsRefuse(t *testing.T) {
	env, out := testEnv(t)
	curl := filepath.Join(t.TempDir(), "curl")
	if err := os.WriteFile(curl, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args, path string
		exit       int
	}{
		{"--webhook ftp://x", filepath.Dir(curl), exitUsage},
		{"--webhook http://x", t.TempDir(), exitUnable},
		{"--webhook http://x --secret-env NOTHING_THERE", filepath.Dir(curl), exitUsage},
		{"--secret-env HOME", filepath.Dir(curl), exitUsage},
		{"--adapter vim", "", exitUsage},
		{"--cwd /nowhere/at/all", "", exitUsage},
		{"more", "", exitUsage},
	} {
		env.Environ = []string{"PATH=" + tc.path}
		if code := Run(t.Context(), env, append([]string{"events"}, strings.Fields(tc.args)...)...); code != tc.exit || out.stdout.Len() > 0 {
			t.Errorf("%s: exit %d, %s%s", tc.args, code, out.stdout.String(), out.stderr.String())
		}
	}
}

// nth is a delivery that can be told from others.
func nth(i int) delivery {
	s := discover.UnknownSession()
	s.ID = fmt.Sprint(i)
	return delivery{watch.Event{Type: watch.SessionIdle, Session: s}, []byte(s.ID)}
}

// An outlet delivers in order, says what failed, and goes on.
func TestAnOutletDeliversInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env, out := testEnv(t)
		ctx, stop := context.WithCancel(t.Context())
		var got []string
		o := env.newOutlet(ctx, "--exec", func(_ context.Context, d delivery) error {
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
		if want := "agentctl: warning: --exec: session.idle of 2: it is broken\n"; out.stderr.String() != want {
			t.Errorf("%q, want %q", out.stderr.String(), want)
		}
	})
}

// One that hangs holds up nobody: what it has no room for is lost, which is said once and counted in the end.
func TestAnOutletThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env, out := testEnv(t)
		ctx, stop := context.WithCancel(t.Context())
		var begun sync.WaitGroup
		begun.Add(1)
		o := env.newOutlet(ctx, "--webhook", func(ctx context.Context, _ delivery) error {
			begun.Done()
			<-ctx.Done()
			return ctx.Err()
		})
		o.offer(nth(0))
		begun.Wait()
		for i := range outletSize + 5 {
			o.offer(nth(i))
		}
		stop()
		o.end()
		want := fmt.Sprintf("agentctl: warning: --webhook does not keep up: %d events wait, more are lost\n"+
			"agentctl: warning: --webhook: %d events were not delivered\n", outletSize, outletSize+6)
		if out.stderr.String() != want {
			t.Errorf("%q, want %q", out.stderr.String(), want)
		}
	})
}

// A webhook gets the line, signed by the secret of the environment, which curl itself does not get.
func TestAnEventIsPosted(t *testing.T) {
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- strings.Join([]string{r.Header.Get("X-Agentctl-Event"), r.Header.Get("X-Agentctl-Signature"), string(body)}, " ")
	}))
	defer server.Close()
	env, _ := testEnv(t)
	env.Environ = os.Environ()
	env = setenv(env, "OURS", "geheim")
	post, err := env.poster(&eventsOptions{webhook: server.URL, secretEnv: "OURS"})
	if err != nil {
		t.Fatal(err)
	}
	d := nth(7)
	if err := post(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if want := "session.idle " + webhook.Sign([]byte("geheim"), d.line) + " 7"; <-got != want {
		t.Errorf("not %q", want)
	}
}

// A script is told of the event; a secret of the webhook's is not in the environment of what posts.
func TestAnEventIsExecuted(t *testing.T) {
	env, out := testEnv(t)
	env.Environ = []string{"PATH=/bin:/usr/bin", "SECRET=s"}
	d := nth(7)
	d.event.Session.Status = discover.Idle
	script := hook{"--exec", `echo $AGENTCTL_EVENT $AGENTCTL_STATUS $AGENTCTL_SESSION_ID; cat`}
	if err := env.execute(script)(t.Context(), d); err != nil || out.stderr.String() != "session.idle idle 7\n7" {
		t.Errorf("%q, %v", out.stderr.String(), err)
	}
	if kept := without(env.Environ, "SECRET"); !slices.Equal(kept, env.Environ[:1]) {
		t.Errorf("%v", kept)
	}
	if !strings.Contains(output.Schema(), string(d.event.Type)) {
		t.Errorf("the schema does not have %s", d.event.Type)
	}
}
