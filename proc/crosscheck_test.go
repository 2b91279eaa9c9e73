//go:build linux || darwin

package proc

import (
	"testing"

	"agentctl/tests/must"
)

// TestCrossCheck: go-ps and this package agree on every process but those that go-ps is known to leave out: on Linux one
// whose name it cannot parse, on macOS the last one of the list.
func TestCrossCheck(t *testing.T) {
	table, err := ReadTable(t.Context(), false)
	must.Do(t, err)
	compared, differences, err := CrossCheck(table)
	must.Do(t, err)
	if compared < 2 {
		t.Errorf("only %d processes compared", compared)
	}
	for _, d := range differences {
		if d.Text != "missing in go-ps" {
			t.Errorf("pid %d (%s): %s", d.PID, d.Name, d.Text)
		}
	}
}
