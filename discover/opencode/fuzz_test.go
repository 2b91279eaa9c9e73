package opencode

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// parsed is all that this package reads of a session.
type parsed struct {
	prompt   string
	turn     discover.Turn
	updated  time.Time
	running  []part
	quotas   []discover.Quota
	usage    usage
	context  int64
	messages []transcriptItem
}

// parse reads all. It stops and continues the reading of messages after each batch of the given size.
func parse(s rowReader, batch int) (p parsed) {
	tail := readTail(s)
	p.prompt, _ = readHead(s)
	p.turn, p.updated, p.running, p.quotas = tail.Turn(), tail.Updated(), tail.RunningTools(), tail.Quotas()
	p.usage, p.context = readUsage(s, 0), readContext(s)
	var reader messageReader
	for done := false; !done; {
		n := 0
		done = reader.Read(s, func(m transcriptItem) bool {
			p.messages = append(p.messages, m)
			n++
			return n < batch
		})
	}
	return p
}

// Any JSON of a message and a part gives no panic, bounded texts, and messages that can be marshalled. It does not matter where the
// reading of messages stops and continues. A part whose end is missing is no message.
func FuzzTranscript(f *testing.F) {
	const answer = `{"role":"assistant","time":{"created":5,"completed":9},"modelID":"m","providerID":"p","parentID":"msg_1","tokens":{"input":3},"error":{"name":"X","data":{"message":"y"}}}`
	parts, err := filepath.Glob("testdata/json-1.1.65-family/storage/part/*/*.json")
	if err != nil || len(parts) == 0 {
		f.Fatal(parts, err)
	}
	for _, path := range parts {
		raw, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(answer), raw)
	}
	f.Add([]byte(`{"role":"user","time":{"created":5}}`), []byte(`{"type":"compaction","auto":true}`))
	f.Add([]byte(`{"role":"assistant","summary":true,"finish":"tool-calls"}`), []byte(`{"type":"text","text":"x","synthetic":true}`))
	f.Add([]byte(answer), []byte(`{"type":"tool","state":{"status":"error","input":[1,"x"],"error":"The user dismissed this question"}}`))
	f.Add([]byte(answer), []byte(`{"type":"retry","error":{"data":{"message":"busy"}},"time":{"created":7}}`))
	f.Fuzz(func(t *testing.T, message, part []byte) {
		s := memoryRows{
			newMemoryMessage("msg_1", `{"role":"user"}`, `{"type":"text","text":"do it"}`),
			newMemoryMessage("msg_2", string(message), string(part), string(part)),
		}
		got := parse(s, 100)
		if one := parse(s, 1); !reflect.DeepEqual(got, one) {
			t.Errorf("in batches of one: %+v\nat once: %+v", one, got)
		}
		if got.prompt != "do it" || len([]rune(got.turn.Error)) > errorLimit {
			t.Errorf("%+v", got)
		}
		for i, m := range got.messages {
			isTokens := i == 0 && got.usage.Tokens.Total > 0
			if strings.HasPrefix(m.ID, "prt_2") && !jsonl.Object(part).Complete() {
				t.Errorf("a torn part: %+v", m)
			}
			if m.ID == "" || m.Role == "" || m.Kind == "" || (m.Kind == discover.KindTool) != (m.Tool != nil) || m.Tokens != nil && !isTokens {
				t.Errorf("%+v", m)
			}
			if _, err := json.Marshal(m.Message); err != nil {
				t.Errorf("%+v: %v", m, err)
			}
		}
	})
}
