package realagents

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/codex"
	"agentctl/tests/realagents/world"
)

// TestCodexTranscript: what was said is, to the byte, what the user typed and what the agent itself prints of its answers
// and commands; of a resumed session all of it, of a killed one as far as it got.
func TestCodexTranscript(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		prompts := []string{
			"  the first, «ünï» \x1b[31m\u202e\n\t\"quoted\" [[shell seq 2;; shell exit 3;; text  done, \u200bünï \x1b[0m]]\n",
			"the second [[text again]]",
			"the third [[shell sleep 300]]",
		}
		first := a.Run(prompts[0])
		first.Wait()
		id := codexID(t, w, "the first")
		second := a.Run(prompts[1], "resume", id, "-")
		second.Wait()
		third := a.Run(prompts[2], "resume", id, "-")
		open := "tool exec_command sleep 300 open"
		if !poll(func() bool { return slices.Contains(said(t, c.status(id)), open) }) {
			t.Fatalf("no command is open: %q", said(t, c.status(id)))
		}
		third.Kill()
		want := slices.Concat(
			[]string{"user " + prompts[0]}, printed(t, first),
			[]string{"user " + prompts[1]}, printed(t, second),
			[]string{"user " + prompts[2], "assistant I use a tool.", open},
		)
		if got := said(t, c.status(id)); !slices.Equal(got, want) {
			t.Errorf("said was\n%q, want\n%q", got, want)
		}
	})
}

// said is what a session's transcript holds, the oldest first.
func said(t *testing.T, s session) (list []string) {
	t.Helper()
	r := discover.Record{Agent: "codex", ID: *s.ID, Path: s.Path, Home: s.Home}
	for m, err := range codex.New().Messages(t.Context(), r) {
		switch {
		case err != nil:
			t.Fatal(err)
		case m.Tool != nil:
			list = append(list, strings.TrimSpace(fmt.Sprintf("tool %s %s %s %s", m.Tool.Name, m.Tool.Brief, m.Tool.State, toolOutput(m.Tool))))
		default:
			list = append(list, string(m.Role)+" "+m.Text)
		}
	}
	slices.Reverse(list)
	return list
}

// toolOutput is what a command printed, where the transcript has it apart from what the tool says of it.
func toolOutput(call *discover.ToolCall) string {
	if call.State != discover.ToolDone {
		return ""
	}
	return call.Output
}

// printed is what a run of codex exec --json prints of its answers and commands.
func printed(t *testing.T, p *world.Process) (list []string) {
	t.Helper()
	for line := range strings.Lines(p.Stdout()) {
		var event struct {
			Type string
			Item struct {
				Type, Text, Command string
				Output              string `json:"aggregated_output"`
				ExitCode            *int   `json:"exit_code"`
			}
		}
		if json.Unmarshal([]byte(line), &event) != nil || event.Type != "item.completed" {
			continue
		}
		switch item := event.Item; item.Type {
		case "agent_message":
			list = append(list, "assistant "+item.Text)
		case "command_execution":
			_, command, _ := strings.Cut(item.Command, " -lc ")
			state := "done " + item.Output
			if item.ExitCode == nil || *item.ExitCode != 0 {
				state = "error"
			}
			list = append(list, strings.TrimSpace("tool exec_command "+strings.Trim(command, "'")+" "+state))
		}
	}
	return list
}

// TestCodexInstructions: the agent's own instructions, which a rollout begins with, are to the byte the same in all of a
// version and model, and what the user asked is found behind them.
func TestCodexInstructions(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		var texts, want []string
		for _, name := range []string{"one", "two", "three"} {
			prompt := "asked in " + name
			a.In(w.Dir(name)).Run(prompt).Wait()
			texts, want = append(texts, instructionsOf(t, c.status(codexID(t, w, prompt)).Path)), append(want, prompt)
		}
		if len(texts[0]) < 8<<10 || texts[0] != texts[1] || texts[1] != texts[2] {
			t.Errorf("instructions of %d, %d and %d bytes, want the same ones", len(texts[0]), len(texts[1]), len(texts[2]))
		}
		out, errs, code := c.run("list", "-a", "--format", "{{.prompt}}")
		if got := sorted(strings.Split(strings.TrimSpace(out), "\n")); code != 0 || !slices.Equal(got, sorted(want)) {
			t.Errorf("asked was %q, want %q\n%s", got, want, errs)
		}
	})
}

// instructionsOf are the agent's own as they stand in a rollout's first record.
func instructionsOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	_, text, found := strings.Cut(first, `"base_instructions":{"text":"`)
	if !found {
		t.Fatalf("no instructions in %.300s", first)
	}
	text, _, _ = strings.Cut(text, `"}`)
	return text
}
