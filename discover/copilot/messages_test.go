package copilot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/golden"
)

// The messages of every captured session read as recorded.
func TestGoldenMessages(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/[0-9]*")
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			got := map[string][]discover.Message{}
			records, _ := readHome(t, dir, discover.ReadOptions{})
			for _, r := range records {
				for m, err := range New().Messages(t.Context(), r) {
					if err != nil {
						t.Error(err)
					}
					got[r.ID] = append(got[r.ID], m)
				}
			}
			golden.Compare(t, filepath.Join("testdata", "golden", "messages-"+filepath.Base(dir)+".json"), golden.JSON(t, got))
		})
	}
}

// messagesIn returns the messages in some records, the newest first, and the number of warnings.
func messagesIn(data []byte) (list []discover.Message, warnings int) {
	for m, err := range discover.StreamMessages(agentName, func(out *discover.MessageStream) {
		_ = readMessages(storage.NewMemoryFile("/x", data, time.Time{}), out)
	}) {
		if err != nil {
			warnings++
		} else {
			list = append(list, m)
		}
	}
	return list, warnings
}

// Any bytes give no panic; each message has an ID and says something.
func FuzzMessages(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*/session-state/*/events.jsonl")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && len(data) < 20<<10 {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, _ := messagesIn(data)
		for _, m := range list {
			if m.ID == "" || m.Text == "" && m.Tool == nil && m.Kind != discover.KindCompaction {
				t.Fatalf("%+v", m)
			}
		}
	})
}

// A damaged record is said once for each place, and what is around it is read. What sub-agents say is not the session's.
func TestMessagesOfDamagedRecords(t *testing.T) {
	list, warnings := messagesIn([]byte(strings.Join([]string{
		`{"type":"user.message","data":{"content":"first"},"id":"a","timestamp":"2026-11-26T12:00:00.000Z","parentId":null}`,
		`{"type":"assistant.message","data":{"content":"torn`,
		"\x00\x00\x00",
		`{"type":"user.message","data":{"content":"a task"},"agentId":"s","id":"b","parentId":"a"}`,
		`{"type":"assistant.message","data":{"content":"last","toolRequests":[{"toolCallId":"c","name":"bash","arguments":{"command":"ls"}}]},"parentId":"b"}`,
	}, "\n")))
	if len(list) != 3 || warnings != 1 || list[0].Tool.Brief != "ls" || list[1].Text != "last" || list[2].Text != "first" {
		t.Errorf("%d warnings, %+v", warnings, list)
	}
}
