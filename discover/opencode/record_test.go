package opencode

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// Bytes after a whole message or part, such as the beginning of another one, change nothing.
func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"role":"assistant","time":{"created":1,"completed":2},"finish":"stop","error":{"name":"x","data":{"message":"y"}}}`))
	f.Add([]byte(`{"type":"tool","tool":"bash","state":{"status":"running","input":{"command":"x"},"time":{"start":1}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, p := parseMessage(data), parsePart(data)
		if !jsonl.Object(data).Complete() {
			return
		}
		more := append(bytes.Clone(data), `{"role":"user","finish":"torn","tool":"torn","type":"torn","state":{"status":"torn`...)
		if parseMessage(more) != m || parsePart(more) != p {
			t.Errorf("%q: followed by another %+v %+v, alone %+v %+v", data, parseMessage(more), parsePart(more), m, p)
		}
	})
}

// The prompt is the user's text, without the file that a launch puts before it, however long the file is.
func TestParsePartContextFile(t *testing.T) {
	text, err := json.Marshal(discover.FormatContextFile("spec.md", strings.Repeat("a line\n", 5000)) + "\n\nmake it so")
	if err != nil {
		t.Fatal(err)
	}
	if p := parsePart([]byte(`{"type":"text","text":` + string(text) + `}`)); p.text != "make it so" {
		t.Errorf("%.80q", p.text)
	}
}
