package realagents

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// What OpenCode stored is read here without any code of the program under test.

// userMessage is what matters of a message of the user, as OpenCode stores it.
type userMessage struct {
	text, agent, model string
}

type storedMessage struct {
	ID, Role, Agent string
	Model           struct{ ProviderID, ModelID string }
}

// userMessages are those of a session, the oldest first.
func userMessages(t *testing.T, w *world.World, id string) []userMessage {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+w.OpenCodeHome()+"/opencode.db?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`select m.data, (select p.data from part p where p.message_id = m.id order by p.id limit 1)
		from message m where m.session_id = ? order by m.time_created, m.id`, id)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var out []userMessage
	for rows.Next() {
		var message, part []byte
		if err := rows.Scan(&message, &part); err != nil {
			t.Fatal(err)
		}
		out = appendUser(t, out, message, part)
	}
	return out
}

func appendUser(t *testing.T, list []userMessage, message, part []byte) []userMessage {
	t.Helper()
	var m storedMessage
	if err := json.Unmarshal(message, &m); err != nil {
		t.Fatal(err)
	}
	if m.Role != "user" {
		return list
	}
	var p struct{ Text string }
	if err := json.Unmarshal(part, &p); err != nil {
		t.Fatalf("%v: %.200q", err, part)
	}
	return append(list, userMessage{p.Text, m.Agent, m.Model.ProviderID + "/" + m.Model.ModelID})
}

// asStored is a prompt from standard input as OpenCode stores it: the old ones put it on a line of its own.
func asStored(version, prompt string) string {
	if version == install.OpenCodeOld {
		return "\n" + prompt
	}
	return prompt
}

// started is the ID that a launch or resume printed, alone on a line.
func started(t *testing.T, out, errs string, code int) string {
	t.Helper()
	id, rest, _ := strings.Cut(out, "\n")
	if code != 0 || rest != "" || !strings.HasPrefix(id, "ses_") {
		t.Fatalf("exit code %d, printed %q\n%s", code, out, errs)
	}
	return id
}

// runsAs reports how a process differs from the agent's own, started for this prompt; "" if it does not.
func runsAs(a world.Agent, pid int, prompt string) string {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if native, _ := filepath.EvalSymlinks(a.Native); err != nil || exe != native {
		return fmt.Sprintf("runs %s (%v), not %s", exe, err, native)
	}
	stdin, err := os.ReadFile(fmt.Sprintf("/proc/%d/fd/0", pid))
	if err != nil || string(stdin) != prompt {
		return fmt.Sprintf("reads %.80q (%v), not %.80q", stdin, err, prompt)
	}
	return ""
}
