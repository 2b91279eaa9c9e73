package codex

import (
	"strings"
	"testing"

	"agentctl/discover"
)

// A thread has the newest name that the user gave it. A torn last line is ignored.
func TestTitles(t *testing.T) {
	w := newTestHome(t)
	w.rollout(nameA)
	w.file("sessions/2026/11/20/"+nameA, string(rollout(strings.ReplaceAll(metaLine, someID, threadA))))
	w.file(titlesFile, `{"id":"`+threadA+`","thread_name":"old"}`+"\n"+`{"id":"`+threadB+`","thread_name":"other"}`+"\n"+
		`{"id":"`+threadA+`","thread_name":"new \"name\""}`+"\n"+`{"id":"`+threadA+`","thread_name":"torn`)
	if r := readHome(t, w.home, discover.ReadOptions{}); len(r) != 1 || r[0].Title != `new "name"` {
		t.Errorf("records %+v", r)
	}
}
