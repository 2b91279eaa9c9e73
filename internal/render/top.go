package render

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"agentctl/internal/object"
)

// Ranks of the columns of [TopTable] that are dropped early, the highest first.
const (
	_ = iota
	topRankCPU
	topRankContext
	topRankTokens
	topRankMemory
	topRankAge
	topRankChanges
	topRankLimit
	topRankCPUHistory
	topRankTokenHistory
)

// Load is what a session uses now, and has used since `top` began.
type Load struct {
	// CPU is the share of one processor in percent, Memory is in bytes. Nil: not known.
	CPU    *float64
	Memory *int64
	// TokenRate is in tokens a minute, without those that are read from the cache; nil: not known.
	TokenRate *float64
	// CPUHistory and TokenHistory are the newest samples, the newest last.
	CPUHistory, TokenHistory []float64
	Changes                  *object.Changes
	// Selected and Marked rows have a sign before them.
	Selected, Marked bool
}

// TopTable writes the table of `top`: a header, and one row a session, fitted to the width. The column with the title keep, by
// which the rows are sorted, is dropped last.
func TopTable(w io.Writer, sessions []object.Session, loads []Load, keep string, opts TextOptions) error {
	c := opts.newSessionColumns(sessions)
	c.age.dropEarly, c.id.dropLate = topRankAge, 1
	for _, narrowed := range []*column{&c.dir, &c.title} {
		narrowed.preferred = 12
	}
	load := func(text func(Load) string) func(int) string {
		return func(i int) string { return text(loads[i]) }
	}
	g := sessionGrid(
		sessions,
		column{cell: load(Load.signs)},
		c.status, c.id, c.agent, c.age,
		column{title: "CPU", cell: load(func(l Load) string { return knownText(l.CPU, percentText) }), dropEarly: topRankCPU, alignRight: true},
		column{cell: load(func(l Load) string { return Sparkline(l.CPUHistory, fullProcessor) }), dropEarly: topRankCPUHistory},
		column{title: "MEMORY", cell: load(func(l Load) string { return knownText(l.Memory, ByteSize) }), dropEarly: topRankMemory, alignRight: true},
		column{title: "TOK/MIN", cell: load(func(l Load) string {
			return knownText(l.TokenRate, func(n float64) string { return Thousands(int64(n)) })
		}), dropEarly: topRankTokens, alignRight: true},
		column{cell: load(func(l Load) string { return Sparkline(l.TokenHistory, 0) }), dropEarly: topRankTokenHistory},
		column{title: "CTX", cell: func(i int) string { return cmp.Or(contextShare(sessions[i].Tokens), contextText(sessions[i].Tokens)) }, dropEarly: topRankContext, alignRight: true},
		column{title: "LIMIT", cell: func(i int) string { return limitText(sessions[i].Quotas, opts.Now) }, dropEarly: topRankLimit, alignRight: true},
		column{title: "CHANGES", cell: load(func(l Load) string { return statusLetters(l.Changes) }), dropEarly: topRankChanges},
		c.waitingOn, c.quiet, c.dir, c.title,
	)
	for i := range g.columns {
		if g.columns[i].title == keep && keep != "" {
			g.columns[i].dropEarly, g.columns[i].dropLate = 0, 0
		}
	}
	return g.print(w, opts)
}

// signs are those before a row: > selected, * marked.
func (l Load) signs() string {
	signs := []byte("  ")
	if l.Selected {
		signs[0] = '>'
	}
	if l.Marked {
		signs[1] = '*'
	}
	return string(signs)
}

// fullProcessor is the use of one processor, in percent.
const fullProcessor = 100

func percentText(n float64) string { return fmt.Sprintf("%.0f%%", n) }

// limitText is the use of the provider's limit that is nearest to its end, in percent; of one that is reached, when it resets.
func limitText(quotas []object.Quota, now time.Time) string {
	text, most := "", -1.0
	for _, q := range quotas {
		resets, known := object.ParseTimestamp(q.ResetsAt)
		if known && !resets.After(now) {
			continue // it has begun anew
		}
		switch used := q.Used; {
		case q.Reached && known:
			return "until " + resets.In(now.Location()).Format("15:04")
		case q.Reached:
			return "reached"
		case used != nil && *used > most:
			text, most = percentText(*used), *used
		}
	}
	return text
}

// Limits describes what the agents last wrote of each of their providers' limits, the newest first, one line a limit.
func (to TextOptions) Limits(sessions []object.Session) []string {
	type limit struct {
		agent string
		object.Quota
	}
	newest := map[string]limit{}
	for _, s := range sessions {
		for _, q := range s.Quotas {
			agent := object.HostPrefix(s.Host) + s.Adapter
			key := agent + " " + q.Name
			if old, ok := newest[key]; !ok || q.Time > old.Time {
				newest[key] = limit{agent, q}
			}
		}
	}
	var lines []string
	for _, l := range slices.SortedFunc(maps.Values(newest), func(a, b limit) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.agent, b.agent), cmp.Compare(a.Name, b.Name))
	}) {
		lines = append(lines, l.agent+": "+to.quotaText(l.Quota))
	}
	return lines
}

// sparkWidth is how many samples a sparkline shows.
const sparkWidth = 8

// Sparkline draws the newest samples as bars, with at least this sample as the full height. A sample of 0 has the lowest bar.
func Sparkline(samples []float64, full float64) string {
	if len(samples) == 0 {
		return ""
	}
	samples = samples[max(0, len(samples)-sparkWidth):]
	bars := []rune("▁▂▃▄▅▆▇█")
	for _, n := range samples {
		full = max(full, n)
	}
	var b strings.Builder
	for _, n := range samples {
		height := 0
		if full > 0 && n > 0 {
			height = min(len(bars)-1, int(n/full*float64(len(bars))))
		}
		b.WriteRune(bars[height])
	}
	return fmt.Sprintf("%*s", sparkWidth, b.String())
}
