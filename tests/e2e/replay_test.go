package e2e_test

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/tests/replay"
	"agentctl/tests/schema"
)

// replaying are the commands for streams of events.
func eventCommands() map[string]command {
	return map[string]command{
		// replays STREAM LIST: the lines are valid, and whoever believed each event of STREAM knows what LIST has, the output of list --json.
		"replays": withArgs(2, func(ts *testscript.TestScript, args []string) {
			events, err := replay.Read([]byte(ts.ReadFile(args[0])))
			ts.Check(err)
			for line := range strings.Lines(ts.ReadFile(args[0])) {
				ts.Check(schema.Check("event", line))
			}
			states, err := replay.Replay(events)
			ts.Check(err)
			wrong, err := replay.Differs(states, []byte(ts.ReadFile(args[1])))
			ts.Check(err)
			if len(wrong) > 0 {
				ts.Fatalf("%s", strings.Join(wrong, "\n"))
			}
		}),
	}
}
