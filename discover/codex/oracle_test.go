package codex

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
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

// lastTexts returns the last texts of the user and the model in one rollout, read from its beginning.
func lastTexts(lines []oracleLine, id string) (user, assistant string) {
	var turns [][2]string // what each of the user's turns said and was answered
	reviewed := false
	say := func(text string) { turns = append(turns, [2]string{text}) }
	answer := func(text string) {
		if len(turns) > 0 {
			turns[len(turns)-1][1] = text
		}
	}
	for _, l := range lines {
		p := l.Payload
		own := p.ThreadID == "" || p.ThreadID == id
		switch name := p.Type + p.Item.Type; {
		case name == "entered_review_mode":
			reviewed = true
			say(p.UserFacingHint)
		case name == "exited_review_mode":
			reviewed = false
		case name == "user_message" && (p.Kind == "" || p.Kind == "plain") && !reviewed:
			say(p.Message)
		case name == "agent_message" && !reviewed:
			answer(p.Message)
		case name == "item_completedEnteredReviewMode" && own:
			say(p.Item.UserFacingHint)
		case name == "item_completedUserMessage" && own:
			say(p.Item.Content[0].Text)
		case name == "item_completedAgentMessage" && own:
			answer(p.Item.Content[0].Text)
		case name == "thread_rolled_back":
			turns = turns[:len(turns)-p.NumTurns]
		}
	}
	for _, turn := range turns {
		user = turn[0]
		if turn[1] != "" {
			assistant = turn[1]
		}
	}
	return user, assistant
}

// For every fixture, the last texts of the user and the model are those that are stored.
func TestLastTextsAsStored(t *testing.T) {
	dirs, _ := filepath.Glob("testdata/[0-9]*")
	checked := 0
	for _, dir := range dirs {
		for _, r := range readHome(t, dir, discover.ReadOptions{}) {
			var user, assistant string
			list, _ := messagesOf(t, r)
			for _, m := range list {
				typed := strings.HasPrefix(m.Text, "!")
				if m.Role == discover.RoleUser && user == "" && !typed {
					user = m.Text
				}
				if m.Role == discover.RoleAssistant && m.Kind == discover.KindText && assistant == "" {
					assistant = m.Text
				}
			}
			wantUser, wantAssistant := lastTexts(oracleLines(t, r.Path), r.ID)
			if wantUser != "" && user != wantUser || wantAssistant != "" && assistant != wantAssistant {
				t.Errorf("%s: %q, %q; stored are %q, %q", r.Path, user, assistant, wantUser, wantAssistant)
			}
			if wantUser != "" && wantAssistant != "" {
				checked++
			}
		}
	}
	if checked < 30 {
		t.Errorf("only %d sessions have both", checked)
	}
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
