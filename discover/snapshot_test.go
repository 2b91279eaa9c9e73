package discover

import (
	"context"
	"testing"

	"agentctl/proc"
	"agentctl/tests/proctest"
)

// renamedClientAdapter is of an agent whose server runs a session that a client of another program's name shows: only a thorough table
// has its claim.
type renamedClientAdapter struct{ testAdapter }

func (a renamedClientAdapter) Claims(_ context.Context, table *proc.Table, _ []Home) ([]Claim, error) {
	server := exactClaim("a", 1)
	server.Shared = true
	claims := []Claim{server, {Agent: Codex, Process: server.Process, Shared: true}}
	if table.IsThorough() {
		client := exactClaim("a", 2)
		client.Client = true
		claims = append(claims, client)
	}
	return claims, nil
}

// Whoever waits for a session that a server keeps open is told that nobody shows it only after every process was asked.
func TestSnapshotLooksForClientsThoroughly(t *testing.T) {
	scanner := newScanner(func() *proc.Table {
		return proctest.NewTable(fakeProcess(1, "now", 'S'), fakeProcess(2, "now", 'S'))
	}, renamedClientAdapter{testAdapter{agent: Codex, records: []Record{record(Codex, "a", 1)}}})
	r := record(Codex, "a", 1)
	snap, err := scanner.Snapshot(t.Context(), SnapshotRequest{Follow: []Session{{Record: &r}}})
	if err != nil || len(snap.Followed) != 1 || len(snap.Followed[0].Clients) != 1 || snap.Followed[0].Released() {
		t.Errorf("%+v, %v", snap.Followed, err)
	}
}
