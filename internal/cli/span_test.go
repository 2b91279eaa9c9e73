package cli

import (
	"strings"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "30m": 30 * time.Minute, "2d": 48 * time.Hour, "1w": 168 * time.Hour,
		"0": -1, "0s": -1, "0d": -1, "-1s": -1, "-2d": -1, "5": -1, "soon": -1, "1d12h": -1, "d": -1, "": -1, "99999999d": -1,
	} {
		var got time.Duration
		err := (&span{to: &got}).Set(text)
		if want < 0 {
			if err == nil || got != 0 {
				t.Errorf("%q is taken for %s", text, got)
			}
		} else if err != nil || got != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	forever := time.Second
	if err := (&span{to: &forever, endless: true}).Set("0"); err != nil || forever != 0 {
		t.Errorf("0, of a limit: %s, %v", forever, err)
	}
	for d, want := range map[time.Duration]string{0: "", time.Minute: "1m", 10 * time.Second: "10s", 90 * time.Second: "1m30s", time.Hour: "1h0m"} {
		if got := (&span{to: &d}).String(); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

// A span that is none is wrong usage before anything is looked at, and the error says what is wanted.
func TestSpanFlags(t *testing.T) {
	for _, args := range []string{
		"launch codex -p x --timeout 0", "launch codex -p x --timeout=-1s", "launch codex -p x --wait --max-time 5",
		"resume aaaaaaaa-2 x --timeout 0", "wait aaaaaaaa-1 --timeout 5", "stop aaaaaaaa-1 --timeout 0s", "stop --older-than 0d", "lock . --for 0",
	} {
		env, out := testEnv(t)
		if got := Run(t.Context(), env, strings.Fields(args)...); got != exitUsage || !strings.Contains(out.stderr.String(), "use a duration such as 90s, 30m, 1h30m, 2d or 1w") {
			t.Errorf("%s: exit %d, %s", args, got, out.stderr.String())
		}
	}
}

// A command that is an empty variable of a script's leaves no lock behind.
func TestLockWithoutItsCommand(t *testing.T) {
	env, out := testEnv(t)
	if got := Run(t.Context(), env, "lock", t.TempDir(), "--"); got != exitUsage || !strings.Contains(out.stderr.String(), "no command follows --") {
		t.Errorf("exit %d, %s", got, out.stderr.String())
	}
	out.stdout.Reset()
	if Run(t.Context(), env, "locks", "--json"); strings.Contains(out.stdout.String(), "declared") {
		t.Error(out.stdout.String())
	}
}
