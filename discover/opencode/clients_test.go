package opencode

import (
	"slices"
	"testing"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// A client of a server may show any of its sessions; with -s that one, and what has been prompted since.
func TestClientsOfAServer(t *testing.T) {
	const main, other = "ses_e0592eee2ffexP0Ea9f6TGXebt", "ses_e0592f1c3fferjqNVsEgBbvV83"
	dir := restore(t, "fdpos")
	server := withLog(agent(1, at(t, "19:26:50"), "serve"), dir, 21361)
	server.Ports = []int{4096}
	for name, c := range map[string]struct {
		started string
		args    []string
		shows   bool
	}{
		"any":            {"20:00:00", []string{"attach", "http://localhost:4096"}, true},
		"this one":       {"20:00:00", []string{"attach", "http://127.0.0.1:4096", "-s", main}, true},
		"another one":    {"20:00:00", []string{"attach", "http://127.0.0.1:4096", "-s", other}, false},
		"another before": {"19:26:51", []string{"attach", "http://127.0.0.1:4096", "-s", other}, true},
		"another server": {"20:00:00", []string{"attach", "http://127.0.0.1:4097"}, false},
		"not open":       {"20:00:00", []string{"attach", "http://127.0.0.1:4096"}, false},
		"a run":          {"20:00:00", []string{"run", "--attach", "http://127.0.0.1:4096", "hi"}, false},
	} {
		client := withLog(agent(2, at(t, c.started), c.args...), dir, 0)
		client.Files = client.Files[1:] // a client has no database
		if name == "not open" {
			client.Files = nil
		} else {
			client.Name, client.Exe = "oc", "/srv/bin/oc"
		}
		table := proc.NewFakeTable(server, client).Thorough()
		claims, err := New().Claims(t.Context(), table, homeOf(dir))
		if err != nil {
			t.Error(err)
		}
		var shown []string
		for _, claim := range claims {
			if claim.Process.PID != 2 {
				continue
			}
			if shown = append(shown, claim.Session); !claim.Client || claim.Strength != discover.Weak {
				t.Errorf("%s: %+v", name, claim)
			}
		}
		if want := []string{main}; c.shows && !slices.Equal(shown, want) || !c.shows && len(shown) > 0 {
			t.Errorf("%s: shows %q", name, shown)
		}
	}
}

// A terminal interface that listens and runs several sessions may show each of them.
func TestTerminalMayShowItsSessions(t *testing.T) {
	table := proc.NewFakeTable(agent(1, at(t, "12:00:00"), "--port", "0"), agent(2, at(t, "12:00:00"), "serve"))
	for pid, want := range map[int]int{1: 1, 2: 0} {
		p, _ := table.ByPID(pid)
		sure, possible, err := New().FindClients(t.Context(), discover.Session{Record: &discover.Record{}, Processes: []proc.Process{p}}, launch.Environment{})
		if len(sure) != 0 || len(possible) != want || err != nil {
			t.Errorf("%d: %v, %v, %v", pid, sure, possible, err)
		}
	}
}
