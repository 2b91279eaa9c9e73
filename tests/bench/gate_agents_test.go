//go:build linux && (amd64 || arm64)

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// listBesideSubagents: of the sub-agents that a live session has had in earlier processes a list asks for the time alone, also
// while the session waits for one that is not stored yet; of other sessions' it asks nothing. That is one call for each of
// them. Beside those, their folders cost what opening and listing them does, whatever they hold.
func listBesideSubagents(t *testing.T, w world) {
	work := t.TempDir()
	live, err := startLive(work, filepath.Join(work, "live"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := live.stop(); err != nil {
			t.Error(err)
		}
	}()
	transcripts, err := filepath.Glob(filepath.Join(work, "live", ".claude", "projects", "*", live.ids[0]+".jsonl"))
	if err != nil || len(transcripts) != 1 {
		t.Fatalf("%v, %v", transcripts, err)
	}
	own := strings.TrimSuffix(transcripts[0], ".jsonl")
	calls(t, transcripts[0], live.ids[0])
	// The folders are three, each opened from the session's own down, since only the live process names the home: what is opened is
	// asked for its kind, and closed.
	const many, opening = 300, 24
	for i := range many / 2 {
		subagent(t, filepath.Join(own, "subagents"), 2*i)
		subagent(t, filepath.Join(own, "subagents", "workflows", "wf_1"), 2*i+1)
		subagent(t, filepath.Join(filepath.Dir(own), fmt.Sprintf("%08x-0000-4000-8000-000000000000", i), "subagents"), i)
		subagent(t, filepath.Dir(own), i) // as up to 2.0.x
	}
	list, err := live.listed(w.agentctl, w.home)
	if err != nil {
		t.Fatal(err)
	}
	asked, folders := map[string]int{}, 0
	for _, call := range list {
		_, below := strings.CutPrefix(call.Path, own+"/")
		switch {
		case strings.HasPrefix(filepath.Base(call.Path), "agent-"):
			if asked[call.Path]++; call.Name != "newfstatat" || !below || filepath.Ext(call.Path) != ".jsonl" {
				t.Errorf("%s of %s", call.Name, call.Path)
			}
		case (below || call.Path == own) && call.Name != "getdents64": // of which a folder takes one for some hundred names
			folders++
		}
	}
	t.Logf("%d calls on the folders of %d sub-agents", folders, len(asked))
	if folders > opening {
		t.Errorf("opening the folders of sub-agents takes %d calls, more than %d", folders, opening)
	}
	for path, n := range asked {
		if n > 1 {
			t.Errorf("asks %d times for %s", n, path)
		}
	}
	if len(asked) != many {
		t.Errorf("asks for %d of %d sub-agents", len(asked), many)
	}
}

// calls has a session call for a sub-agent.
func calls(t *testing.T, transcript, id string) {
	t.Helper()
	f, err := openAppend(transcript)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, `{"parentUuid":"0","isSidechain":false,"message":{"model":"claude-opus-4-8","type":"message","role":"assistant","content":[{"type":"tool_use","id":"toolu_now","name":"Agent","input":{}}],"stop_reason":"tool_use"},"type":"assistant","uuid":"1","timestamp":%q,"cwd":"/w","sessionId":%q,"version":"2.1.197"}`+"\n",
		time.Now().UTC().Format(time.RFC3339Nano), id)
	if err != nil {
		t.Fatal(err)
	}
}

// subagent puts the transcript of a sub-agent of an hour ago into a folder, and its note beside it.
func subagent(t *testing.T, dir string, number int) {
	t.Helper()
	name := filepath.Join(dir, fmt.Sprintf("agent-a%016x", number))
	ended := time.Now().Add(-time.Hour)
	for path, text := range map[string]string{
		name + ".jsonl":     `{"parentUuid":null,"isSidechain":true,"type":"user","message":{"role":"user","content":"a task"},"timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n",
		name + ".meta.json": fmt.Sprintf(`{"agentType":"general-purpose","toolUseId":"toolu_%d","requestShape":"background","finished":true}`, number),
	} {
		if err := put(path, text); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, ended, ended); err != nil {
			t.Fatal(err)
		}
	}
}
