package cli

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/proctest"
)

// metricsSamples parses an exposition with Prometheus's own parser: each sample is its name and labels, as they are written.
func metricsSamples(t *testing.T, text string) map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	out := map[string]float64{}
	for name, f := range families {
		if f.GetHelp() == "" || strings.Count(text, "# TYPE "+name+" ") != 1 || (f.GetType().String() == "COUNTER") != strings.HasSuffix(name, "_total") {
			t.Errorf("%s: help %q, a %s", name, f.GetHelp(), f.GetType())
		}
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%s", l.GetName(), l.GetValue()))
			}
			key := strings.Join(append([]string{strings.TrimPrefix(name, "agentctl_")}, labels...), " ")
			if _, twice := out[key]; twice {
				t.Errorf("%s stands twice", key)
			}
			out[key] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return out
}

// withMetrics is the world of testEnv, where processes use something, and 30 runs three threads: one and its sub-agent,
// another one, and 31 is a second process of the live session's ID in another directory.
func withMetrics(t *testing.T) (Env, *Output) {
	t.Helper()
	f, out := testEnv(t)
	codex := f.Adapters[1].(Stub)
	var facts []proctest.Process
	for _, p := range [][2]int{{1, 0}, {10, 1}, {11, 10}, {20, 1}, {30, 1}, {1000, 1}} {
		fake := Process(p[0], p[1])
		fake.ResourceUsage = proc.Usage{CPU: time.Duration(p[0]) * time.Second / 2, Memory: int64(p[0]) << 20}
		facts = append(facts, fake)
	}
	for id, parent := range map[string]string{"boss": "", "hand": "boss", "other": ""} {
		r := Record(id, "/w/s", discover.TurnDone, time.Minute)
		r.Parent, r.Tokens = parent, &discover.Tokens{In: 100, Out: 10, CacheRead: 1, CacheWrite: 2, Reasoning: 3, Total: 110}
		if parent == "" {
			cost := 0.25
			r.Cost = &cost
		}
		codex.Records = append(codex.Records, r)
		codex.ClaimList = append(codex.ClaimList, discover.Claim{
			Agent: r.Agent, Process: proc.ID{PID: 30, Birth: "boot/1"}, Home: r.Home, Session: id, Path: r.Path, Strength: discover.Exact, Kind: "lock",
		})
	}
	f.Adapters[1] = codex
	f.ReadTable = func(ctx context.Context, _ bool) (*proc.Table, error) { return proctest.NewTable(facts...), ctx.Err() }
	return f, out
}

// Metrics: sessions by adapter and status, memory and processor time of live ones, tokens and cost where they are stated,
// scan duration and unreadable stores; each process and each token counts once.
func TestMetrics(t *testing.T) {
	f, out := withMetrics(t)
	if got := Run(t.Context(), f, "metrics"); got != 0 || out.Stderr.Len() > 0 {
		t.Fatalf("exit %d, %s", got, out.Stderr.String())
	}
	got := metricsSamples(t, out.Stdout.String())
	if took, ok := got["scan_duration_seconds"]; !ok || took <= 0 || took > 60 {
		t.Errorf("the scan took %v s", took)
	}
	maps.DeleteFunc(got, func(key string, _ float64) bool {
		return key == "scan_duration_seconds" || strings.HasPrefix(key, "build_info version=")
	})
	want := map[string]float64{
		"window_seconds": 7 * 24 * 3600,
		"session_memory_bytes adapter=codex session=aaaaaaaa-1":      10 << 20,
		"session_cpu_seconds_total adapter=codex session=aaaaaaaa-1": 5,
		"shared_process_memory_bytes adapter=claude-code pid=20":     20 << 20, "shared_process_cpu_seconds_total adapter=claude-code pid=20": 10,
		"shared_process_memory_bytes adapter=codex pid=30": 30 << 20, "shared_process_cpu_seconds_total adapter=codex pid=30": 15,
		"tokens adapter=codex kind=in": 300, "tokens adapter=codex kind=out": 30, "tokens adapter=codex kind=cacheRead": 3,
		"tokens adapter=codex kind=cacheWrite": 6, "tokens adapter=codex kind=reasoning": 9,
		"tokens_sessions adapter=codex": 3, "tokens_sessions adapter=claude-code": 0, "cost_dollars adapter=codex": 0.5,
		"unreadable adapter=codex": 0, "unreadable adapter=claude-code": 0, "unreadable adapter=processes": 0,
		"sessions adapter=codex status=running": 1, "sessions adapter=codex status=idle": 2, "sessions adapter=codex status=stopped": 3,
		"sessions adapter=claude-code status=running": 1, "stopped_sessions adapter=codex outcome=completed": 1,
		"stopped_sessions adapter=codex outcome=error": 1, "stopped_sessions adapter=codex outcome=interrupted": 1,
	}
	for _, agent := range []string{"codex", "claude-code"} {
		for _, status := range Statuses() {
			want["sessions adapter="+agent+" status="+status] += 0
		}
		for _, outcome := range []string{"completed", "interrupted", "error", "unknown"} {
			want["stopped_sessions adapter="+agent+" outcome="+outcome] += 0
		}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if n, ok := got[key]; !ok || n != want[key] {
			t.Errorf("%s: %v (there: %v), want %v", key, n, ok, want[key])
		}
		delete(got, key)
	}
	if len(got) > 0 {
		t.Errorf("more: %v", got)
	}
}

// inclusive is an agent whose sessions' totals have those of their sub-agents in them, if they are asked for.
type inclusive struct{ Stub }

func (inclusive) IncludesSubagents(want discover.ReadOptions) bool { return want.Tokens }

func TestMetricsCountTokensOnce(t *testing.T) {
	f, out := withMetrics(t)
	f.Adapters[1] = inclusive{f.Adapters[1].(Stub)}
	for _, test := range []struct {
		flags []string
		want  float64
	}{{nil, 300}, {[]string{"--tokens"}, 200}} {
		out.Stdout.Reset()
		Run(t.Context(), f, append([]string{"metrics", "--adapter", "codex", "--since", "all"}, test.flags...)...)
		if metricsSamples(t, out.Stdout.String())["tokens adapter=codex kind=in"] != test.want {
			t.Error(test.flags, out.Stdout.String())
		}
	}
	if strings.Contains(out.Stdout.String(), "claude-code") || strings.Contains(out.Stdout.String(), "window_seconds") {
		t.Error(out.Stdout.String())
	}
}

func TestMetricsOfWhatCannotBeRead(t *testing.T) {
	f, out := testEnv(t)
	if got := Run(t.Context(), Broken(f), "metrics"); got != 6 || !strings.Contains(out.Stderr.String(), "warning: codex: ") {
		t.Errorf("exit %d, %s", got, out.Stderr.String())
	}
	if got := metricsSamples(t, out.Stdout.String())["unreadable adapter=codex"]; got != 1 {
		t.Errorf("%v unreadable", got)
	}
}

// The file is replaced, whole, and nothing is left beside it.
func TestMetricsIntoAFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "agentctl.prom")
	for _, before := range []string{"", "old and longer" + strings.Repeat("!", 1<<16)} {
		if before != "" {
			if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		old, _ := os.Open(file) // whoever reads it
		f, out := testEnv(t)
		if got := Run(t.Context(), f, "metrics", "--output", file); got != 0 || out.Stdout.Len() > 0 {
			t.Fatalf("exit %d, %s%s", got, out.Stdout.String(), out.Stderr.String())
		}
		text, err := os.ReadFile(file)
		if err != nil || len(metricsSamples(t, string(text))) < 10 {
			t.Errorf("%v: %s", err, text)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o644 {
			t.Errorf("%v, %v", info, err)
		}
		if old != nil {
			var reads bytes.Buffer
			if _, err := reads.ReadFrom(old); err != nil || reads.String() != before {
				t.Errorf("its reader got %.30q, %v", reads.String(), err)
			}
			old.Close()
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
			t.Errorf("%v, %v", files, err)
		}
	}
	for args, want := range map[string]int{
		"--output " + dir: 2, "--output " + os.DevNull: 2, "--output " + dir + "/none/x": 2, "--output -": 0, "--since soon": 2, "--adapter x": 2, "x": 2, "--output=": 2,
	} {
		f, out := testEnv(t)
		if got := Run(t.Context(), f, append([]string{"metrics"}, strings.Fields(args)...)...); got != want {
			t.Errorf("%s: exit %d, %s", args, got, out.Stderr.String())
		}
	}
}
