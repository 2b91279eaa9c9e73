package cli

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/claudecode"
	"agentctl/discover/codex"
	"agentctl/discover/opencode"
	"agentctl/proc"
	"agentctl/tests/proctest"
	"agentctl/tests/store/generate"
)

// The agents with their real stores, and processes that are made up.
type (
	liveClaude struct {
		claudecode.Adapter
		claims []discover.Claim
	}
	liveCodex struct {
		codex.Adapter
		claims []discover.Claim
	}
	liveOpenCode struct {
		opencode.Adapter
		claims []discover.Claim
	}
)

func (a liveClaude) Claims(context.Context, *proc.Table, []discover.Home) ([]discover.Claim, error) {
	return a.claims, nil
}

func (a liveCodex) Claims(context.Context, *proc.Table, []discover.Home) ([]discover.Claim, error) {
	return a.claims, nil
}

func (a liveOpenCode) Claims(context.Context, *proc.Table, []discover.Home) ([]discover.Claim, error) {
	return a.claims, nil
}

// withStore has a generated store whose sessions began in bursts, as those of a launch of many do. Every tenth one is live, in a
// process of its own.
func withStore(t *testing.T) (Env, *Output, []generate.Session) {
	t.Helper()
	home := t.TempDir()
	options := generate.Defaults()
	options.Sessions, options.Burst, options.Min, options.Median, options.Max = 240, 24, 1000, 2000, 4000
	sessions, err := generate.Store(home, options)
	if err != nil {
		t.Fatal(err)
	}
	processes := []proctest.Process{Process(1, 0), Process(1000, 1)}
	claims := map[string][]discover.Claim{}
	for i := 0; i < len(sessions); i += 10 {
		p := Process(2000+i, 1)
		p.Started = sessions[i].Updated
		processes = append(processes, p)
		s := sessions[i]
		claude, codexHome, openCode := generate.Homes(home)
		claims[s.Agent] = append(claims[s.Agent], discover.Claim{
			Agent: discover.Agent(s.Agent), Process: p.ID, Session: s.ID, Path: s.Path, Strength: discover.Exact, Kind: "test", Detail: "test",
			Home: map[string]string{"claude-code": claude, "codex": codexHome, "opencode": openCode}[s.Agent],
		})
	}
	table := proctest.NewTable(processes...)
	f, out := testEnv(t)
	f = Setenv(f, "HOME", home)
	f.ReadTable = func(ctx context.Context, _ bool) (*proc.Table, error) { return table, ctx.Err() }
	f.Adapters = []discover.Adapter{
		liveClaude{claudecode.New(), claims["claude-code"]}, liveCodex{codex.New(), claims["codex"]}, liveOpenCode{opencode.New(), claims["opencode"]},
	}
	return f, out, sessions
}

// id is whatever is printed that is an agent's ID, or the beginning of one.
var id = regexp.MustCompile(`\b(ses_[0-9A-Za-z]+|agent-[0-9a-f]+|[0-9a-f]{8}(-[0-9a-f]{1,4}){0,3}(-[0-9a-f]{1,12})?)\b`)

// Whatever ID any command prints can be given back to agentctl, and means one session.
func TestEveryPrintedIDIsTaken(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it runs in one goroutine, so the race detector finds nothing in it")
	}
	f, out, sessions := withStore(t)
	var some []string
	for i, s := range sessions {
		if i%7 == 0 && i%10 != 0 { // stopped ones
			some = append(some, s.ID)
		}
	}
	taken := map[string]bool{}
	for _, width := range []int{0, 60, 100, 200} {
		for _, args := range [][]string{
			{"list"},
			{"list", "-a", "--since", "all"},
			{"list", "-a", "--since", "all", "--children"},
			{"list", "--wide"},
			{"list", "-n", "3"},
			{"list", "-q", "-a", "--since", "all"},
			{"list", "--json"},
			{"list", "--format", "{{.id}}"},
			{"locks"},
			{"locks", "--json"},
			append([]string{"stop", "--dry-run"}, some...),
			{"stop", "--all", "--dry-run"},
			append([]string{"stop", "--dry-run", "--json"}, some...),
			append([]string{"wait"}, some[:5]...),
			{"wait", "--timeout", "1ms", sessions[0].ID},
			{"status", sessions[3].ID},
			{"status", "ses_"},
			{"status", "0"},
			{"logs", "--children", sessions[5].ID},
			{"resume", sessions[0].ID, "more"},
		} {
			out.Stdout.Reset()
			out.Stderr.Reset()
			f.Width, f.Height = width, 1000
			Run(t.Context(), f, args...)
			printed := id.FindAllString(out.Stdout.String()+out.Stderr.String(), -1)
			if len(printed) == 0 && args[0] != "logs" && args[0] != "resume" {
				t.Errorf("%d columns, %q: no ID in %q %q", width, args, out.Stdout.String(), out.Stderr.String())
			}
			for _, arg := range printed {
				if taken[arg] || !strings.ContainsAny(arg, "0123456789") { // such as a word of a title
					continue
				}
				taken[arg] = true
				out.Stdout.Reset()
				out.Stderr.Reset()
				var session struct{ ID string }
				if code := Run(t.Context(), f, "status", arg, "--json"); code != 0 {
					t.Errorf("%d columns, %q: prints %s, which status refuses: %d, %s", width, args, arg, code, out.Stderr.String())
				} else if err := json.Unmarshal(out.Stdout.Bytes(), &session); err != nil || !strings.HasPrefix(session.ID, arg) {
					t.Errorf("%s is taken for %q, %v", arg, session.ID, err)
				} else if width == 0 && session.ID != arg {
					t.Errorf("%q: %s is shortened, though it is printed into a pipe", args, arg)
				}
			}
		}
	}
	if len(taken) < len(sessions) {
		t.Errorf("only %d IDs were printed", len(taken))
	}
}
