package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/tests/must"
)

// usageAnswer is an answer so long ago, of 1000 tokens in and 50 out.
func usageAnswer(model string, ago time.Duration) discover.Usage {
	return discover.Usage{Time: Now().Add(-ago), Model: model, Tokens: discover.Tokens{In: 1000, Out: 50, Total: 1050}}
}

func costs(a discover.Usage, usd float64) discover.Usage {
	a.Cost, a.CostKnown = usd, true
	return a
}

// used is the made-up world, in which aaaaaaaa-2 has a sub-agent, and bbbbbbbb-1 is older than a month. The clock says noon in
// UTC+14: midnight was at 10 UTC of the day before.
func used(t *testing.T) (Env, *Output) {
	f, out := testEnv(t)
	s := f.Adapters[1].(Stub)
	sub := Record("eeeeeeee", "/w/a", discover.TurnDone, time.Hour)
	sub.Parent, sub.Sub = "aaaaaaaa-2", true
	s.Records = append(s.Records, sub)
	s.Answers = map[string][]discover.Usage{
		"aaaaaaaa-1": {costs(usageAnswer("opus", 3*time.Hour), 0.5), usageAnswer("gpt-5.5", time.Hour)},
		"aaaaaaaa-2": {costs(usageAnswer("opus", time.Hour), 1.25)},
		"eeeeeeee":   {costs(usageAnswer("opus", time.Hour), 0.25), costs(usageAnswer("opus", 40*24*time.Hour), 9)},
	}
	f.Adapters[1] = s
	now := Now().In(time.FixedZone("", 14*3600))
	f.Now = func() time.Time { return now }
	return f, out
}

func rows(t *testing.T, args ...string) string {
	t.Helper()
	f, out := used(t)
	if code := Run(t.Context(), f, append([]string{"usage", "--adapter", string(f.Adapters[1].Name())}, args...)...); code != 0 {
		t.Fatalf("%q: exit %d: %s", args, code, out.Stderr.String())
	}
	return regexp.MustCompile(` +`).ReplaceAllString(out.Stdout.String(), " ")
}

func TestUsageIsAddedUp(t *testing.T) {
	prices := filepath.Join(t.TempDir(), "prices.toml")
	must.Do(t, os.WriteFile(prices, []byte("[opus]\nin = 5\nout = 20\n"), 0o600))
	for args, want := range map[string]string{
		// three hours ago is yesterday there, and the session that went on is on both days
		"--by day": `DAY IN OUT TOTAL COST SESSIONS
2026-11-20 1,000 50 1,050 $0.5000 1
2026-11-21 3,000 150 3,150 ≥$1.50 2
total 4,000 200 4,200 ≥$2.00 2
`,
		"--by month --since all": `MONTH IN OUT TOTAL COST SESSIONS
2026-10 1,000 50 1,050 $9.00 0
2026-11 4,000 200 4,200 ≥$2.00 2
total 5,000 250 5,250 ≥$11.00 2
`,
		"--by week --since 1d": `WEEK IN OUT TOTAL COST SESSIONS
2026-W47 4,000 200 4,200 ≥$2.00 2
`,
		"--by model": `MODEL IN OUT TOTAL COST SESSIONS
opus 3,000 150 3,150 $2.00 2
gpt-5.5 1,000 50 1,050 1
total 4,000 200 4,200 ≥$2.00 2
`,
		"--by model --prices " + prices: `MODEL IN OUT TOTAL COST ESTIMATED SESSIONS
opus 3,000 150 3,150 $2.00 $0.0180 2
gpt-5.5 1,000 50 1,050 1
total 4,000 200 4,200 ≥$2.00 ≥$0.0180 2
`,
		"--by session --format {{.key}}={{.tokens.total}}":     "aaaaaaaa-1=2100\naaaaaaaa-2=2100\n",
		"--by agent --since 2026-11-21 --format {{.sessions}}": "2\n",
	} {
		if got := rows(t, strings.Fields(args)...); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", args, got, want)
		}
	}
}

// What an agent states in total only is in the row of a time if it was used in that time, and of a model if the agent says which. All
// else is one row.
func TestOther(t *testing.T) {
	f, out := used(t)
	s := f.Adapters[1].(Stub)
	today, yesterday := usageAnswer("", time.Minute), usageAnswer("", time.Minute)
	today.From, yesterday.From = Now().Add(-time.Hour), Now().Add(-3*time.Hour)
	s.Answers = map[string][]discover.Usage{"aaaaaaaa-1": {usageAnswer("opus", time.Hour), today, yesterday}}
	f.Adapters[1] = s
	for args, want := range map[string]string{
		"--by day": `DAY IN OUT TOTAL SESSIONS
2026-11-21 2,000 100 2,100 1
other 1,000 50 1,050 1
total 3,000 150 3,150 1
`,
		"--by month": `MONTH IN OUT TOTAL SESSIONS
2026-11 3,000 150 3,150 1
`,
		"--by model": `MODEL IN OUT TOTAL SESSIONS
other 2,000 100 2,100 1
opus 1,000 50 1,050 1
total 3,000 150 3,150 1
`,
		"--by day --since 2026-11-21 --format {{.key}}={{.tokens.total}}": "2026-11-21=2100\n=1050\n",
	} {
		out.Stdout.Reset()
		Run(t.Context(), f, append([]string{"usage", "--adapter", string(s.Agent)}, strings.Fields(args)...)...)
		if got := regexp.MustCompile(` +`).ReplaceAllString(out.Stdout.String(), " "); got != want {
			t.Errorf("%s:\n%s\nwant\n%s%s", args, got, want, out.Stderr.String())
		}
	}
}

// What the time window leaves out is said in numbers: sessions that were not read, and earlier answers of those that were.
func TestWhatSinceLeavesOut(t *testing.T) {
	for args, want := range map[string]string{
		"":            "hint: left out: 1,050 tokens that the others used earlier; --since all includes everything\n",
		"--since 2h":  "hint: left out: 2 older sessions, 2,100 tokens that the others used earlier; --since all includes everything\n",
		"--since 30m": "hint: left out: 4 older sessions, 2,100 tokens that the others used earlier; --since all includes everything\n",
		"--since all": "",
	} {
		f, out := used(t)
		code := Run(t.Context(), f, append([]string{"usage", "--by", "session", "--adapter", string(f.Adapters[1].Name())}, strings.Fields(args)...)...)
		if got := out.Stderr.String(); code != 0 || got != want {
			t.Errorf("%q: exit %d: %q, want %q", args, code, got, want)
		}
	}
}

// A price that lacks one kind of tokens says which.
func TestPriceLacksAKind(t *testing.T) {
	prices := filepath.Join(t.TempDir(), "prices.toml")
	must.Do(t, os.WriteFile(prices, []byte("[opus]\nin = 5\n[\"gpt-5.5\"]\nin = 1\ncache_read = 1\n"), 0o600))
	f, out := used(t)
	Run(t.Context(), f, "usage", "--prices", prices)
	if want := "no price for gpt-5.5 (out), opus (out)"; !strings.Contains(out.Stderr.String(), want) {
		t.Errorf("%s, want %s", out.Stderr.String(), want)
	}
}

func TestUsageRejects(t *testing.T) {
	for args, want := range map[string]string{
		"--by days":              `did you mean day`,
		"--limits --by day":      "cannot be used together",
		"--prices /does/not/be":  "cannot be read",
		"--since someday":        "is not a valid time",
		"--limits --since never": "is not a valid time",
	} {
		f, out := used(t)
		if code := Run(t.Context(), f, append([]string{"usage"}, strings.Fields(args)...)...); code != 2 || !strings.Contains(out.Stderr.String(), want) {
			t.Errorf("%s: exit %d: %s", args, code, out.Stderr.String())
		}
	}
}

// The prices in the documentation can be read.
func TestDocumentedPrices(t *testing.T) {
	_, after, _ := strings.Cut(Doc(t, "cli.md"), "\n## usage\n")
	m := regexp.MustCompile("(?s)```toml\n(.*?)```").FindStringSubmatch(after)
	path := filepath.Join(t.TempDir(), "prices.toml")
	must.Do(t, os.WriteFile(path, []byte(m[1]), 0o600))
	if prices, _, err := config.LoadPrices(path, nil); err != nil || len(prices) != 1 {
		t.Errorf("%v, %v", prices, err)
	}
}
