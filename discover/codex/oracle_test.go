package codex

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"agentctl/discover"
)

// oracleLine is a record as encoding/json parses it, without the code under test.
type oracleLine struct {
	Type    string
	Payload struct {
		Type, Message, Kind string
		ThreadID            string `json:"thread_id"`
		UserFacingHint      string `json:"user_facing_hint"`
		NumTurns            int    `json:"num_turns"`
		ResponseID          string `json:"response_id"`
		HistoryMode         string `json:"history_mode"`
		Usage               oracleUsage
		Item                struct {
			Type           string
			Content        []struct{ Text string }
			UserFacingHint string `json:"user_facing_hint"`
		}
	}
}

type oracleUsage struct {
	In  int64 `json:"input_tokens"`
	Out int64 `json:"output_tokens"`
}

func oracleLines(t *testing.T, path string) (list []oracleLine) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for text := range bytes.Lines(data) {
		var l oracleLine
		if err := json.Unmarshal(text, &l); err != nil {
			t.Fatalf("%s: %v\n%s", path, err, text)
		}
		list = append(list, l)
	}
	return list
}

// The tokens of a thread are the sum of its answers' and its sub-agents', each once: in forks, after a kill in a tool, after a compaction,
// with a full context, with edited prompts. Versions before 0.160 have no record of each answer.
func TestTokensAreThoseOfTheAnswers(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/[0-9]*")
	checked := 0
	for _, dir := range dirs {
		records := readHome(t, dir, discover.ReadOptions{Tokens: true})
		for _, r := range records {
			var paths []string
			family := map[string]bool{}
			for _, member := range records {
				if member.ID == r.ID || member.Parent == r.ID {
					more, _ := filepath.Glob(dir + "/sessions/*/*/*/*" + member.ID + "*.jsonl")
					paths, family[member.ID] = append(paths, more...), true
				}
			}
			answers := map[string]oracleUsage{}
			old := false
			for _, path := range paths {
				for _, l := range oracleLines(t, path) {
					if l.Type == "token_usage_record" && family[l.Payload.ThreadID] {
						answers[l.Payload.ResponseID] = l.Payload.Usage
					}
					old = old || l.Type == "session_meta" && l.Payload.HistoryMode != "paginated"
				}
			}
			if old || len(answers) == 0 {
				continue
			}
			var sum oracleUsage
			for _, u := range answers {
				sum.In, sum.Out = sum.In+u.In, sum.Out+u.Out
			}
			if checked++; r.Tokens == nil || r.Tokens.In != sum.In || r.Tokens.Out != sum.Out || r.Tokens.Total != sum.In+sum.Out {
				t.Errorf("%s: %+v, its answers used %+v", r.Path, r.Tokens, sum)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d sessions", checked)
	}
}
