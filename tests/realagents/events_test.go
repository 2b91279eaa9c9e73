package realagents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
	"agentctl/tests/replay"
)

// TestThirtySessionsAreListedAndToldAsWhatTheyAre has the three agents do everything at once that a person has them do:
// sessions start, work, wait, idle, fail, are killed, resumed and cleared. The list is the truth; who believes each event
// knows what list says; and each end is told once.
func TestThirtySessionsAreListedAndToldAsWhatTheyAre(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	first := w.Codex(install.CodexCurrent).Run("is there at first [[hang]]")
	w.WaitCall("is there at first", 0)
	id := codexID(t, w, "is there at first [[hang]]")
	s := c.events("--initial")
	s.when("what is there", func(e replay.Event) bool { return e.Session.ID != nil && *e.Session.ID == id })

	rows := slices.Concat(startClaude(t, w), startOpenCode(t, w), startCodex(t, w)) // last: it unloads a thread that nobody looks at after a minute
	listedAsTheyAre(t, w, c, append(slices.Clone(rows), row(id, first.PID(), "running")))
	h := &headless{
		t: t, w: w, s: s, began: map[int]time.Time{}, runs: map[int]string{}, ends: map[string]int{id: 1}, asked: map[string]string{},
	}
	h.live(w.Claude(install.ClaudeCurrent), []string{"well", "fails [[error 400]]"}, []string{"killed [[hang]]", "cut [[hang]]"})
	h.live(w.Codex(install.CodexCurrent), []string{"well", "fails [[error 400]]"}, []string{"killed [[hang]]", "cut [[hang]]"})
	h.live(w.OpenCode(install.OpenCodeCurrent), []string{"well"}, []string{"killed [[hang]]"})
	first.Kill()
	s.replayed(c)
	pids := pidsOf(rows)
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	if !poll(func() bool { return !slices.ContainsFunc(pids, living) }) { // until then it is right that they run
		t.Errorf("%v have not all ended", pids)
	}
	for _, row := range rows {
		h.ends[strings.Fields(row)[0]]++
	}
	s.replayed(c)
	s.interrupt()
	h.judge()
	h.read(c)
}

// pidsOf are the processes of rows, each once.
func pidsOf(rows []string) []int {
	var out []int
	for _, row := range rows {
		var id string
		var pid int
		if _, err := fmt.Sscanf(row, "%s pid %d", &id, &pid); err == nil && pid > 0 && !slices.Contains(out, pid) {
			out = append(out, pid)
		}
	}
	return out
}

// headless are sessions that one process runs after the other, from its start to its end.
type headless struct {
	t *testing.T
	w *world.World
	s *stream
	// began is when each process did, ends how often each session has ended.
	began map[int]time.Time
	ends  map[string]int
	runs  map[int]string    // the session of each process
	asked map[string]string // each session's last prompt
	kills []time.Duration   // from the kill until it was told
}

func (h *headless) run(a world.Agent, prompt string, args ...string) *world.Process {
	at := time.Now()
	p := a.Run(prompt, args...)
	h.began[p.PID()] = at
	return p
}

// live has sessions of an agent that end by themselves, of which the first is resumed, and others that are killed.
func (h *headless) live(a world.Agent, ends, kills []string) {
	h.t.Helper()
	processes := map[string]*world.Process{}
	var prompts []string
	for _, prompt := range slices.Concat(ends, kills) {
		prompt = a.Agent() + " " + prompt
		processes[prompt], prompts = h.run(a, prompt), append(prompts, prompt)
	}
	for _, prompt := range prompts[len(ends):] {
		h.w.WaitCall(prompt, 0)
		id := idOf(h.t, h.w, a, prompt)
		h.asked[id], h.runs[processes[prompt].PID()] = prompt, id
		h.kill(processes[prompt], id)
	}
	for _, prompt := range prompts[:len(ends)] {
		processes[prompt].Wait()
		id := idOf(h.t, h.w, a, prompt)
		h.asked[id], h.runs[processes[prompt].PID()] = prompt, id
		h.ends[id]++
	}
	id := idOf(h.t, h.w, a, prompts[0])
	h.s.when("the end of "+id, func(e replay.Event) bool { return stops(e, id) })
	resume := map[string][]string{
		install.ClaudeCode: {"--resume", id}, install.Codex: {"resume", id, "-"}, install.OpenCode: {"-s", id},
	}[a.Agent()]
	h.asked[id] = a.Agent() + " again"
	p := h.run(a, h.asked[id], resume...)
	p.Wait()
	h.runs[p.PID()] = id
	h.ends[id]++
}

// kill ends the session's process.
func (h *headless) kill(p *world.Process, id string) {
	h.t.Helper()
	h.s.when("the beginning of "+id, func(e replay.Event) bool { return e.Session.ID != nil && *e.Session.ID == id })
	at := time.Now()
	p.Kill()
	h.kills = append(h.kills, h.s.when("the end of "+id, func(e replay.Event) bool { return stops(e, id) }).Sub(at))
	h.ends[id]++
}

func stops(e replay.Event, id string) bool {
	return e.Type == "session.stopped" && e.Session.ID != nil && *e.Session.ID == id
}

// judge compares how often each session was told to have stopped with how often it has, and which process was told to run
// it with which did, and says how long things took.
func (h *headless) judge() {
	h.t.Helper()
	for _, a := range h.s.all() {
		if id, ok := h.runs[a.Session.PID]; ok && a.Session.ID != nil && *a.Session.ID != id {
			h.t.Errorf("process %d runs %s, and was told to run another session\n%s", a.Session.PID, id, h.s.about(*a.Session.ID))
		}
	}
	got, starts := map[string]int{}, map[int]time.Duration{}
	for _, a := range h.s.all() {
		if a.Session.ID != nil && a.Type == "session.stopped" {
			got[*a.Session.ID]++
		}
		if at, ok := h.began[a.Session.PID]; ok && starts[a.Session.PID] == 0 {
			starts[a.Session.PID] = a.at.Sub(at)
		}
	}
	for id, n := range h.ends {
		if got[id] != n {
			h.t.Errorf("%s has ended %d times, and was told to have %d times\n%s", id, n, got[id], h.s.about(id))
		}
	}
	h.t.Logf("%d sessions, %d events", len(got), len(h.s.all()))
	h.t.Logf("of %d processes, %d were told of while they ran, from start to event %s", len(h.began), len(starts), spread(slices.Collect(maps.Values(starts))))
	h.t.Logf("from kill to event %s", spread(h.kills))
	h.t.Logf("from the last record of a turn, by the agent's clock, to session.idle %s", spread(h.s.turns()))
}

// read checks that peek shows the last words of each session: the prompt, and the answer where there was one.
func (h *headless) read(c agentctl) {
	h.t.Helper()
	for id, prompt := range h.asked {
		want, got := []string{prompt}, []string{}
		if !strings.Contains(prompt, "[[") {
			want = append(want, "OK: "+prompt)
		}
		messages := c.peek(id)
		for _, role := range []string{"user", "assistant"}[:len(want)] {
			if texts := textsOf(messages, role); len(texts) > 0 {
				got = append(got, strings.Trim(texts[len(texts)-1], "\"\n")) // OpenCode adds them
			}
		}
		if !slices.Equal(got, want) {
			h.t.Errorf("the last words of %s are %q, want %q", id, got, want)
		}
	}
	if len(h.asked) < 10 {
		h.t.Errorf("only %d sessions were asked", len(h.asked))
	}
}

// spread is the median and the most of some times.
func spread(list []time.Duration) string {
	if len(list) == 0 {
		return "none"
	}
	slices.Sort(list)
	return fmt.Sprintf("median %s, most %s", list[len(list)/2].Round(time.Millisecond), list[len(list)-1].Round(time.Millisecond))
}
