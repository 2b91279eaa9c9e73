package output

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"agentctl/discover"
)

// Usage is the JSON object of `usage`.
type Usage struct {
	// By is what the rows stand for: day, week, month, project, model, agent or session.
	By string `json:"by"`
	// Since is the beginning of the time that the report covers; absent if that is all that is stored. Until is its end.
	Since string     `json:"since,omitempty"`
	Until string     `json:"until"`
	Rows  []UsageRow `json:"rows"`
	Total UsageRow   `json:"total"`
	// UnpricedModels are the models without a price in the file of --prices.
	UnpricedModels []string `json:"unpricedModels,omitempty"`
}

// UsageRow is one row of `usage`, or its total.
type UsageRow struct {
	// Host is the machine of a project or a session; absent for this one, and where several machines are added up.
	Host string `json:"host,omitempty"`
	// Key is the day, week, month, directory, model, agent or session ID; absent in the total, and in the row of what no agent has said that of.
	Key string `json:"key,omitempty"`
	// Adapter, Title and Project are those of a session.
	Adapter string `json:"adapter,omitempty"`
	Title   string `json:"title,omitempty"`
	Project string `json:"project,omitempty"`
	// Tokens are disjoint; see docs/json.md.
	Tokens Tokens `json:"tokens"`
	// Cost is the agents' own figure in USD; absent if they have none. CostPartial: a part of the tokens has none.
	Cost        *float64 `json:"cost,omitempty"`
	CostPartial bool     `json:"costPartial,omitempty"`
	// ReckonedCost is what the tokens cost by the prices of --prices. ReckonedPartial: a part of them has no price.
	ReckonedCost    *float64 `json:"reckonedCost,omitempty"`
	ReckonedPartial bool     `json:"reckonedPartial,omitempty"`
	// Sessions is the number of sessions that used them, without sub-agents.
	Sessions int `json:"sessions"`
}

// UsageLimit is the newest word of an agent's provider on a limit.
type UsageLimit struct {
	// Host is the machine of the session; absent for this one.
	Host    string `json:"host,omitempty"`
	Adapter string `json:"adapter"`
	// Model is that of the session; it tells the provider of an agent that has several.
	Model string `json:"model,omitempty"`
	// SessionID is the session that recorded it.
	SessionID string   `json:"sessionId"`
	Name      string   `json:"name,omitempty"`
	Used      *float64 `json:"used,omitempty"`
	Reached   bool     `json:"reached,omitempty"`
	ResetsAt  string   `json:"resetsAt,omitempty"`
	Text      string   `json:"text,omitempty"`
	Time      string   `json:"time,omitempty"`
}

// Check returns an error unless the object of another agentctl may be printed. No count of tokens is negative, and the total is the sum of the rows.
func (u *Usage) Check() error {
	var sum Tokens
	for _, row := range append(slices.Clone(u.Rows), u.Total) {
		switch t := row.Tokens; {
		case row.Adapter != "" && !isAdapterName(row.Adapter):
			return fmt.Errorf("no use of an agent: adapter %q", row.Adapter)
		case min(t.In, t.Out, t.CacheRead, t.CacheWrite, t.Reasoning, t.Total, int64(row.Sessions)) < 0:
			return errors.New("a count of its use is negative")
		}
	}
	for _, row := range u.Rows {
		sum = sum.Plus(row.Tokens)
	}
	if sum != u.Total.Tokens {
		return errors.New("the total of its use is not the sum of the rows")
	}
	return nil
}

// Plus is [discover.Tokens.Plus].
func (t Tokens) Plus(o Tokens) Tokens { return Tokens(discover.Tokens(t).Plus(discover.Tokens(o))) }

// Check returns an error unless the object of another agentctl may be printed.
func (l *UsageLimit) Check() error {
	if !isAdapterName(l.Adapter) {
		return fmt.Errorf("no limit of an agent: adapter %q", l.Adapter)
	}
	return checkTimes(l.ResetsAt, l.Time)
}

func NewUsageLimit(q discover.StatedQuota) UsageLimit {
	return UsageLimit{
		Adapter: string(q.Agent), Model: q.Model, SessionID: q.Session, Name: q.Name, Used: finite(q.Used), Reached: q.Reached,
		ResetsAt: Timestamp(q.Resets), Text: q.Text, Time: Timestamp(q.Time),
	}
}

// UsageTable writes a header, one row for each of the report's, and the total. On a terminal each row has a bar.
func UsageTable(w io.Writer, u Usage, opts TextOptions) error {
	most := int64(0)
	ids := shortIDsOf(opts, u.Rows, func(r UsageRow) SessionID { return SessionID{r.Adapter, r.Key} })
	names := make([]string, len(u.Rows))
	for i, r := range u.Rows {
		most = max(most, r.Tokens.Total)
		name := cmp.Or(r.Key, "other")
		switch u.By {
		case "session":
			name = ids[i]
		case "project":
			name = opts.shortDir(name)
		}
		names[i] = HostPrefix(r.Host) + Sanitize(name)
	}
	rows := u.Rows
	if len(rows) > 1 {
		rows, names = append(slices.Clone(rows), u.Total), append(names, "total")
	}
	bar := func(i int) string {
		if opts.Width == 0 || i == len(u.Rows) {
			return ""
		}
		return Bar(rows[i].Tokens.Total, most, barWidth)
	}
	return newGrid(
		len(rows),
		column{title: strings.ToUpper(u.By), cell: func(i int) string { return names[i] }, preferred: 30, min: 10, keepEnd: u.By == "project"},
		column{title: "AGENT", cell: func(i int) string { return rows[i].Adapter }, dropLate: 4},
		column{title: "IN", cell: func(i int) string { return countText(rows[i].Tokens.In) }, dropLate: 5, alignRight: true},
		column{title: "CACHE WRITE", cell: func(i int) string { return countText(rows[i].Tokens.CacheWrite) }, dropLate: 7, alignRight: true},
		column{title: "CACHE READ", cell: func(i int) string { return countText(rows[i].Tokens.CacheRead) }, dropLate: 6, alignRight: true},
		column{title: "OUT", cell: func(i int) string { return countText(rows[i].Tokens.Out) }, dropLate: 3, alignRight: true},
		column{title: "TOTAL", cell: func(i int) string { return countText(rows[i].Tokens.Total) }, alignRight: true},
		column{title: "COST", cell: func(i int) string { return usdText(rows[i].Cost, rows[i].CostPartial) }, alignRight: true},
		column{title: "RECKONED", cell: func(i int) string { return usdText(rows[i].ReckonedCost, rows[i].ReckonedPartial) }, alignRight: true},
		column{title: "SESSIONS", cell: func(i int) string { return strconv.Itoa(rows[i].Sessions) }, dropEarly: 2, alignRight: true},
		column{cell: bar, dropEarly: 1},
		column{title: "TITLE", cell: func(i int) string { return Sanitize(rows[i].Title) }, dropLate: 2, preferred: 20, min: 12},
	).print(w, opts)
}

// barWidth is the width of the longest bar in a table.
const barWidth = 20

// Bar returns a bar of n of most, in eighths of a character. What is more than nothing has at least one.
func Bar(n, most int64, width int) string {
	if n <= 0 || most <= 0 {
		return ""
	}
	const eighths = 8
	length := max(1, int(float64(n)/float64(most)*float64(width*eighths)+0.5))
	bar := strings.Repeat("█", length/eighths)
	if rest := length % eighths; rest > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return bar
}

// countText is [Count]; "" for 0.
func countText(n int64) string {
	if n == 0 {
		return ""
	}
	return Count(n)
}

// Count formats a number that is not negative with a comma between thousands.
func Count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// usdText formats an amount. One that is known in part only is a least amount.
func usdText(usd *float64, partial bool) string {
	if finite(usd) == nil {
		return ""
	}
	text := fmt.Sprintf("$%.2f", *usd)
	if *usd < 0.995 {
		text = fmt.Sprintf("$%.4f", *usd)
	}
	if partial {
		return "≥" + text
	}
	return text
}

// UsageLimitTable writes a header, and one row for each limit.
func UsageLimitTable(w io.Writer, limits []UsageLimit, opts TextOptions) error {
	return newGrid(
		len(limits),
		column{title: "AGENT", cell: func(i int) string { return HostPrefix(limits[i].Host) + limits[i].Adapter }},
		column{title: "LIMIT", cell: func(i int) string { return Sanitize(cmp.Or(limits[i].Name, "-")) }, preferred: 20, min: 8},
		column{title: "USED", cell: func(i int) string { return usedText(limits[i]) }, alignRight: true},
		column{title: "RESETS", cell: func(i int) string { return opts.resetText(limits[i].ResetsAt) }, preferred: 30, min: 16},
		column{title: "NOTED", cell: func(i int) string { return opts.agoText(limits[i].Time) }, alignRight: true},
		column{title: "MODEL", cell: func(i int) string { return Sanitize(limits[i].Model) }, dropLate: 1, preferred: 20, min: 12},
		column{title: "NOTICE", cell: func(i int) string { return Sanitize(limits[i].Text) }, dropLate: 2, preferred: 30, min: 12},
	).print(w, opts)
}

func usedText(l UsageLimit) string {
	switch used := finite(l.Used); {
	case used != nil:
		return fmt.Sprintf("%.3g%%", *used)
	case l.Reached:
		return "reached"
	}
	return ""
}

// resetText says when a limit is reset, or since when it has been.
func (o TextOptions) resetText(timestamp string) string {
	t, ok := parseTimestamp(timestamp)
	switch {
	case !ok:
		return "-"
	case t.After(o.Now):
		return fmt.Sprintf("%s (in %s)", o.localTime(timestamp), Age(o.Now, t))
	}
	return fmt.Sprintf("%s (%s ago)", o.localTime(timestamp), Age(t, o.Now))
}

// agoText says how old a time is.
func (o TextOptions) agoText(timestamp string) string {
	t, ok := parseTimestamp(timestamp)
	if !ok {
		return "-"
	}
	return Age(t, o.Now) + " ago"
}
