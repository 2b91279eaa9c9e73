package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Each player is to be a row with its ID, at work, in its own process; and nobody else.
func TestWhatLivesIsChecked(t *testing.T) {
	c := &cast{ids: []string{"a", "b"}, running: []*exec.Cmd{{Path: "/x/claude", Process: &os.Process{Pid: 7}}, {Path: "/x/opencode", Process: &os.Process{Pid: 8}}}}
	row := func(id, status string, pid int) string {
		return fmt.Sprintf(`{"id":%q,"status":%q,"pid":%d}`, id, status, pid)
	}
	a, b := row("a", "running", 7), row("b", "running", 8)
	if err := c.check([]byte("[" + b + "," + a + "]")); err != nil {
		t.Error(err)
	}
	for what, rows := range map[string][]string{
		"none":                 {},
		"one is missing":       {a},
		"one does not work":    {a, row("b", "idle", 8)},
		"one is another's":     {a, row("b", "running", 9)},
		"one is not known":     {a, b, row("c", "running", 10)},
		"one is there by half": {a, row("", "running", 8)},
	} {
		list := []byte("[" + strings.Join(rows, ",") + "]")
		if !json.Valid(list) {
			t.Fatalf("%s", list)
		}
		if err := c.check(list); err == nil {
			t.Errorf("%s: %s", what, list)
		}
	}
	if err := c.check([]byte("no JSON")); err == nil {
		t.Error("what is no JSON is taken")
	}
}

func TestEveryLiveBarCanFail(t *testing.T) {
	for what, spoil := range map[string]func(few, many []*job, calls []int){
		"":                     func([]*job, []*job, []int) {},
		"÷ hello world":        func(few, _ []*job, _ []int) { few[0].times = made("", 0, 0.9, 0, 0).times },
		"stored ÷ with 10":     func(few, _ []*job, _ []int) { few[1].times = made("", 0, 8, 0, 0).times },
		"calls on files":       func(_, _ []*job, calls []int) { calls[1]++ },
		"`ps`, 2000 processes": func(_, many []*job, _ []int) { many[0].times = made("", 0, 33, 0, 0).times },
	} {
		few := []*job{made(hello, 0, 1, 0, 0), made(listLive, 10, 10, 0, 0), made(listLive, 1000, 11, 0, 0)}
		many, calls := []*job{made(ps, 0, 41, 0, 0), made(listMany, 1000, 10, 0, 0)}, []int{5, 5}
		spoil(few, many, calls)
		var out strings.Builder
		missed := printBars(&out, liveBars(few, many, calls))
		if want := min(len(what), 1); missed != want {
			t.Errorf("%q: %d missed:\n%s", what, missed, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, "NOT MET") != (what != "" && strings.Contains(line, what)) {
				t.Errorf("%q: %s", what, line)
			}
		}
	}
}

// A turn in which everything is slow counts as any other.
func TestTimesAreComparedTurnByTurn(t *testing.T) {
	a := &job{times: []time.Duration{20, 200, 2000, 2, 30}}
	b := &job{times: []time.Duration{10, 100, 1000, 2, 10}}
	if r := turnwise(a, b); r != 2 {
		t.Errorf("%v", r)
	}
}
