package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

// changingStub is an agent that has changed since it was tried. Each of its live sessions has the same kinds.
type changingStub struct {
	Stub
	version string
	kinds   []string
}

func (s changingStub) Tried() discover.Tried {
	return discover.Tried{
		Newest: "1.2.0", ProgramVersion: func(string) string { return s.version },
		UnknownKinds: func(context.Context, discover.Record) ([]string, error) { return s.kinds, nil },
	}
}

// TestDoctorWarnsOfNewerAgents once for each agent, whatever there is to say, and with the exit code 0.
func TestDoctorWarnsOfNewerAgents(t *testing.T) {
	for _, x := range []struct {
		version string
		kinds   []string
		want    string
	}{
		{},
		{"1.3.0", nil, "agentctl: warning: codex: a live session runs 1.3.0, and agentctl was tried up to 1.2.0; what it says of them may be incomplete\n"},
		{"1.3.0", []string{"z\x1b[2J", "a", "a"}, "agentctl: warning: codex: a live session runs 1.3.0, and agentctl was tried up to 1.2.0; " +
			"live sessions have records of kinds that agentctl does not know: a, z; what it says of them may be incomplete\n"},
	} {
		f, out := testFactory(t)
		f.Adapters[1] = changingStub{f.Adapters[1].(Stub), x.version, x.kinds}
		doctor := []Verb{{Name: "doctor", New: doctorCommand}}
		code := runVerbs(t.Context(), f, doctor, []string{"doctor"})
		if got := out.Stderr.String(); code != 0 || got != x.want {
			t.Errorf("exit %d, %q, want %q", code, got, x.want)
		}
		if !strings.Contains(out.Stdout.String(), "\n  tried     up to version 1.2.0\n") || strings.Count(out.Stdout.String(), "tried") != 1 {
			t.Error(out.Stdout.String())
		}
		out.Stdout.Reset()
		runVerbs(t.Context(), f, doctor, []string{"doctor", "--json"})
		CheckSchema(t, "doctor", out.Stdout.String())
		var found findings
		if err := json.Unmarshal(out.Stdout.Bytes(), &found); err != nil {
			t.Fatal(err)
		}
		if got := found.Agents[1]; got.NewestTried != "1.2.0" || x.version != "" && !slices.Equal(got.NewerVersions, []string{x.version}) ||
			len(got.UnknownKinds) != min(2, len(x.kinds)) || found.Agents[0].NewestTried != "" {
			t.Errorf("%+v", found.Agents)
		}
	}
}
