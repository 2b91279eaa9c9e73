package codex

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/tests/proctest"
)

// clientsTest has a daemon with threads, and terminals; times are in seconds after the daemon's start.
type clientsTest struct {
	*testHome
	began time.Time
}

func newClientsTest(t *testing.T) *clientsTest {
	c := &clientsTest{testHome: newTestHome(t), began: time.Now().Add(-time.Hour)}
	c.process(100, 1, npmExe, []string{"app-server", "--listen", "unix://", "--managed-daemon"})
	c.at(0, 0)
	return c
}

// at sets the start of a process.
func (c *clientsTest) at(process int, seconds float64) {
	p := &c.facts[process].Process
	p.Started = c.began.Add(time.Duration(seconds * float64(time.Second)))
}

// thread adds a thread that the daemon has loaded.
func (c *clientsTest) thread(id string, seconds float64) {
	c.t.Helper()
	f := c.lock(id)
	at := c.began.Add(time.Duration(seconds * float64(time.Second)))
	if err := os.Chtimes(f.Path, at, at); err != nil {
		c.t.Fatal(err)
	}
	c.facts[0].Files = append(c.facts[0].Files, f)
}

// terminal adds a terminal, which has had a thread if it listens.
func (c *clientsTest) terminal(pid int, seconds float64, listens bool, args ...string) {
	p := c.process(pid, 1, npmExe, args)
	if listens {
		p.Ports = []int{40000 + pid}
	}
	c.at(len(c.facts)-1, seconds)
}

// shown returns which terminals show which thread, as the correlation decides: "THREAD by pid pid", "pid alone" for rows of their own.
func (c *clientsTest) shown() (out []string) {
	for _, s := range discover.Correlate(proctest.NewTable(c.facts...), c.claims()) {
		text := map[string]string{threadA: "A", threadB: "B", threadC: "C"}[s.ID] + " by"
		for _, p := range s.Clients {
			text += fmt.Sprint(" ", p.ID.PID)
		}
		if s.ID == "" {
			text = fmt.Sprint(s.Processes[0].ID.PID, " alone")
		}
		if len(s.PossibleClients()) > 0 {
			text += " perhaps"
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

const threadC = "01a1fa61-035d-7f13-870e-9f68aa312f77"

// A terminal shows the thread that the daemon has loaded as it started, or since, if only one fits.
func TestClientsOfTheDaemon(t *testing.T) {
	for name, test := range map[string]struct {
		set  func(*clientsTest)
		want []string
	}{
		"one": {func(c *clientsTest) {
			c.terminal(8, -5, true)
			c.thread(threadA, 3)
		}, []string{"A by 8"}},
		"two in one directory": {func(c *clientsTest) {
			c.terminal(8, 10, true)
			c.terminal(9, 100, true)
			c.thread(threadA, 11)
			c.thread(threadB, 101)
		}, []string{"A by 8", "B by 9"}},
		"before its first thread": {func(c *clientsTest) {
			c.terminal(8, 10, true)
			c.terminal(9, 100, false)
			c.thread(threadA, 11)
		}, []string{"9 alone", "A by 8"}},
		"started at the same time": {func(c *clientsTest) {
			c.terminal(8, 10, true)
			c.terminal(9, 10.2, true)
			c.thread(threadA, 11)
			c.thread(threadB, 11.1)
		}, []string{"A by perhaps", "B by perhaps"}},
		"another thread was begun, and the first of its terminal is loaded still": {func(c *clientsTest) {
			c.terminal(8, 10, true)
			c.terminal(9, 100, true)
			c.thread(threadA, 11)
			c.thread(threadB, 101)
			c.thread(threadC, 200)
		}, []string{"A by perhaps", "B by perhaps", "C by perhaps"}},
		"another thread was begun in the first": {func(c *clientsTest) {
			c.terminal(8, 10, true)
			c.terminal(9, 100, true)
			c.thread(threadB, 101)
			c.thread(threadC, 200)
		}, []string{"B by 9", "C by 8"}},
		"a thread that was resumed": {func(c *clientsTest) {
			c.terminal(8, 10, true)
			c.terminal(9, 12, true, "resume", threadB)
			c.terminal(10, 14, false, "resume", threadB)
			c.thread(threadA, 11)
			c.thread(threadB, 100)
		}, []string{"A by 8", "B by 9 10"}},
		"a resumed thread was left for another": {func(c *clientsTest) {
			c.terminal(8, 10, true, "resume", threadB)
			c.thread(threadA, 100)
		}, []string{"A by 8"}},
		"a client by its arguments": {func(c *clientsTest) {
			c.terminal(8, 10, true)
			c.thread(threadA, 11)
			c.terminal(9, 12, false, "resume", "--remote", "unix:///s", threadA)
			c.terminal(10, 13, false, "--remote", "ws://far.example:1")
		}, []string{"A by 8 9"}},
		"older than all threads": {func(c *clientsTest) {
			c.thread(threadA, 11)
			c.terminal(8, 500, true)
		}, []string{"8 alone", "A by"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClientsTest(t)
			test.set(c)
			if got := c.shown(); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
