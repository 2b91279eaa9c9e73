package hostile

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"agentctl/tests/sandbox"
)

var (
	seed    = flag.Uint64("hostile.seed", 0, "the `seed` of all cases (default: 1; with -hostile.for another one each time)")
	only    = flag.Int("hostile.case", -1, "run this case only, by its `number`")
	span    = flag.Duration("hostile.for", 0, "run cases for this `time` instead of a fixed number")
	number  = flag.Int("hostile.n", 0, "the `number` of cases without -hostile.for (default: 80, or 240 if all tests are asked for)")
	kind    = flag.String("hostile.kind", "", "run cases of this `kind` only: store, repository, liar, kill")
	keep    = flag.String("hostile.keep", "", "keep the directories of failing cases below this `directory`")
	workers = flag.Int("hostile.workers", 2, "the `number` of cases that run at the same time")
)

// The environment variables by which this program is started again: the part that it plays, and what that part is to do.
const (
	roleVariable = "AGENTCTL_HOSTILE_ROLE"
	jobVariable  = "AGENTCTL_HOSTILE_JOB"
)

func TestMain(m *testing.M) {
	switch role := os.Getenv(roleVariable); role {
	case "":
		os.Exit(m.Run())
	case "worker":
		if code, ran := sandbox.Enter(sandbox.Processes | sandbox.Network); ran {
			os.Exit(code)
		}
		os.Exit(work())
	default:
		os.Exit(lie(role))
	}
}

// job is what a worker does. Each worker has a process table and a loopback network of its own, so that what one plays is not
// visible to the others.
type job struct {
	Seed        uint64
	First, Step int
	Count       int       // cases in all; 0: until the end
	End         time.Time // no case begins after it
	Only        int       // the only case, -1: all
	Kind, Keep  string
	Dir         string // for cases
	Binary      string // agentctl
	Agents      string // the directory of the fake agents
	Bases       string // the directory of the undamaged homes
	Mounts      string // the mount namespace of the test itself
}

// work runs cases and prints an outcome as a line of JSON after each.
func work() int {
	var j job
	if err := json.Unmarshal([]byte(os.Getenv(jobVariable)), &j); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		return 1
	}
	w, err := newWorker(j)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		return 1
	}
	defer w.close()
	out := json.NewEncoder(os.Stdout)
	for k := j.First; (j.Count == 0 || k < j.Count) && (j.End.IsZero() || time.Now().Before(j.End)); k += j.Step {
		if j.Only >= 0 {
			k = j.Only
		}
		if err := out.Encode(w.runCase(k)); err != nil {
			fmt.Fprintln(os.Stderr, "hostile:", err)
			return 1
		}
		if j.Only >= 0 {
			break
		}
	}
	return 0
}
