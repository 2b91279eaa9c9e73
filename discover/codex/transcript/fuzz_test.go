package transcript

import (
	"bytes"
	"reflect"
	"strconv"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// parsed is all that this package reads of a rollout.
type parsed struct {
	head     Head
	noMeta   bool
	turn     discover.Turn
	usage    Usage
	messages []discover.Message
}

func parseRollout(t *testing.T, data []byte) (p parsed) {
	t.Helper()
	f := fsread.NewMemoryFile("rollout", data, time.Time{})
	var err error
	if p.head, err = ReadHead(f, someID, (*Head).Complete); err != nil {
		p.noMeta = true
	}
	tail, err := ReadTail(f, TailLimit, someID, TailOptions{Tokens: true, Quotas: true})
	if err != nil {
		t.Fatal(err)
	}
	p.turn, p.usage = tail.TurnAt(time.Unix(0, 0)), tail.Usage
	builder := NewMessageBuilder("m", func(m discover.Message) { p.messages = append(p.messages, m) }, func(at int64) string { return strconv.FormatInt(at, 10) })
	builder.SetFile(f, true)
	_, err = f.Backward(0, func(l fsread.Line) bool {
		if r, ok := Decode(l.Bytes, someID); ok && MayBeMessage(r.Kind) && r.Complete(l.Bytes) {
			builder.Add(&r, l.Offset)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Any bytes give no panic, a bounded prompt and messages with IDs, and a torn last line changes nothing.
func FuzzTranscript(f *testing.F) {
	f.Add(rollout(metaLine, startedLine, contextLine, askedLine, callLine, outputLine, silentLine, settingsLine))
	f.Add(rollout(metaLine, reviewLine, answerLine, failedLine, timedLine, newerLine, abortedLine, errorLine, compactLine))
	f.Add([]byte{0, 255, '\n'})
	f.Fuzz(func(t *testing.T, data []byte) {
		got := parseRollout(t, data)
		end := bytes.LastIndexByte(data, '\n') + 1
		if whole := parseRollout(t, data[:end]); end > 0 && !reflect.DeepEqual(got, whole) {
			t.Fatalf("torn:  %+v\nwhole: %+v", got, whole)
		}
		if len([]rune(got.head.Prompt)) > discover.PromptLimit {
			t.Fatalf("prompt %q", got.head.Prompt)
		}
		for _, m := range got.messages {
			if m.ID == "" || m.Role == "" || m.Kind == "" {
				t.Fatalf("message %+v", m)
			}
		}
	})
}
