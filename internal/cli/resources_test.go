package cli

import (
	"testing"

	"agentctl/discover/ancestry"
	"agentctl/proc"
	"agentctl/tests/proctest"
)

// A process that ends between the look and the question is left out.
func TestGoneProcessIsLeftOut(t *testing.T) {
	gone := Process(12, 10)
	gone.Err = proc.ErrGone
	table := proctest.NewTable(Process(10, 1), gone)
	tree := []ancestry.Node{}
	for p := range table.All() {
		tree = append(tree, ancestry.Node{Process: p})
	}
	if got := Processes(tree); len(got) != 1 || got[0].PID != 10 {
		t.Errorf("%+v", got)
	}
}
