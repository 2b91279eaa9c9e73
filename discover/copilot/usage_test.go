package copilot

import (
	"path/filepath"
	"testing"

	"agentctl/discover"
	"agentctl/tests/must"
)

// usageOf returns what the sessions of a home used.
func usageOf(t *testing.T, home string) map[string]*discover.SessionUsage {
	t.Helper()
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: home}}, discover.EntryFilter{})
	must.Do(t, err)
	all := map[string]*discover.SessionUsage{}
	for u, err := range New().ReadUsage(t.Context(), entries) {
		must.Do(t, err)
		all[u.ID] = u
	}
	return all
}

// The answers of each captured session are together its tokens; what a fork has copied counts once.
func TestUsageIsThatOfTheRecord(t *testing.T) {
	homes, _ := filepath.Glob("testdata/[0-9]*")
	counted := 0
	for _, home := range homes {
		for id, u := range usageOf(t, home) {
			var sum int64
			for _, used := range u.Usage {
				if tokens := used.Tokens; tokens.Total != tokens.In+tokens.CacheRead+tokens.CacheWrite+tokens.Out || used.Model == "" || used.Time.IsZero() {
					t.Errorf("%s: %+v", id, used)
				}
				sum += used.Tokens.Total
			}
			if counted++; u.Tokens == nil || u.Tokens.Total != sum {
				t.Errorf("%s: %+v, its answers have %d", id, u.Tokens, sum)
			}
		}
	}
	if counted < 12 {
		t.Errorf("%d sessions", counted)
	}
	fork := usageOf(t, "testdata/13-fork-and-intruder")["e170accb-c18c-4bf4-a381-4327785ed2db"]
	if len(fork.Usage) != 1 {
		t.Errorf("the fork has %d answers of its own", len(fork.Usage))
	}
}

func TestTotals(t *testing.T) {
	const (
		used    = `session.usage_record {"usage":{"model":"m","inputTokens":1018,"outputTokens":50,"cacheReadTokens":11,"cacheWriteTokens":7,"maxPromptTokens":64000}}`
		stated  = `session.shutdown {"totalNanoAiu":7,"totalPremiumRequests":2,"currentTokens":900,"modelMetrics":{"m":{"usage":{"inputTokens":100,"outputTokens":10}}}}`
		ownOnly = `session.shutdown {"modelMetrics":{"m":{"usage":{"inputTokens":100,"outputTokens":10}}}}`
	)
	for name, test := range map[string]struct {
		records        []string
		total, context int64 // -1: not known
	}{
		"answers, sub-agents' too":                  {[]string{asked, used, "s@" + used, answers}, 2136, 1018},
		"since 1.0.82, a shutdown is about all":     {[]string{asked, answers, stated, asked, answers, stated}, 110, 900},
		"up to 1.0.12, it is about its own process": {[]string{asked, answers, ownOnly, asked, answers, ownOnly}, 220, 0},
		"answers of a newer version follow":         {[]string{asked, answers, stated, asked, used, answers, stated}, 110 + 1068, 900},
		"an old process was killed":                 {[]string{asked, answers, stated, asked, answers}, -1, 0},
		"a compaction":                              {[]string{asked, used, `session.compaction_complete {"success":true,"postCompactionTokens":300,"compactionTokensUsed":{"model":"m","inputTokens":20,"outputTokens":2}}`}, 1090, 300},
		"what a fork has copied":                    {[]string{asked, used, `session.info {"infoType":"fork","message":"Forked from \"a) as \"b\" (` + idB + `) as \"x\" (` + idA + `)."}`, asked, used}, 1068, 1018},
	} {
		u, err := parse(t, lines(test.records...), workspace{})
		total, context := int64(-1), int64(0)
		if u.Tokens != nil {
			total, context = u.Tokens.Total, u.Tokens.Context
		}
		if err != nil || total != test.total || context != test.context || u.Cost != nil {
			t.Errorf("%s: %+v, %v; want %d, context %d", name, u.Tokens, err, test.total, test.context)
		}
	}
	u, _ := parse(t, lines(asked, stated), workspace{})
	if u.Meta["premiumRequests"] != 2.0 || u.Meta["nanoAiCredits"] != 7.0 {
		t.Errorf("%+v", u.Meta)
	}
}
