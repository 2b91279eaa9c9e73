package output

import (
	"cmp"
	"fmt"
	"io"
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
	// Key is the day, week, month, directory, model, agent or session ID; absent in the total, and where the agent does not say.
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

// NewUsageLimit returns the object of a limit.
func NewUsageLimit(q discover.StatedQuota) UsageLimit {
	return UsageLimit{
		Adapter: string(q.Agent), Model: q.Model, SessionID: q.Session, Name: q.Name, Used: finite(q.Used), Reached: q.Reached,
		ResetsAt: Timestamp(q.Resets), Text: q.Text, Time: Timestamp(q.Time),
	}
}

// UsageTable writes a header, one row for each of the report's, and the total. On a terminal each row has a bar.
func UsageTable(w io.Writer, u Usage, opts TextOptions) error {
	g := grid{columns: []column{
		{header: strings.ToUpper(u.By), preferred: 30, min: 10, keepEnd: u.By == "project"},
		{header: "AGENT", dropOrder: 4},
		{header: "IN", dropOrder: 5, alignRight: true},
		{header: "CACHE WRITE", dropOrder: 7, alignRight: true},
		{header: "CACHE READ", dropOrder: 6, alignRight: true},
		{header: "OUT", dropOrder: 3, alignRight: true},
		{header: "TOTAL", alignRight: true},
		{header: "COST", alignRight: true},
		{header: "RECKONED", alignRight: true},
		{header: "SESSIONS", dropOrder: optional + 2, alignRight: true},
		{header: "", dropOrder: optional + 1},
		{header: "TITLE", dropOrder: 2, preferred: 20, min: 12},
	}}
	most := int64(0)
	fullIDs := make([]SessionID, len(u.Rows))
	for i, r := range u.Rows {
		most = max(most, r.Tokens.Total)
		fullIDs[i] = SessionID{r.Adapter, r.Key}
	}
	names := make([]string, len(u.Rows))
	for i, r := range u.Rows {
		names[i] = cmp.Or(r.Key, "-")
	}
	switch u.By {
	case "session":
		names = opts.ShortIDs(fullIDs)
	case "project":
		for i := range names {
			names[i] = opts.shortDir(names[i])
		}
	}
	add := func(name string, r UsageRow, bar string) {
		t := r.Tokens
		g.add(row{cells: []string{
			Sanitize(name), r.Adapter, countText(t.In), countText(t.CacheWrite), countText(t.CacheRead), countText(t.Out), countText(t.Total),
			usdText(r.Cost, r.CostPartial), usdText(r.ReckonedCost, r.ReckonedPartial), strconv.Itoa(r.Sessions), bar, Sanitize(r.Title),
		}})
	}
	for i, r := range u.Rows {
		bar := ""
		if opts.Width > 0 {
			bar = Bar(r.Tokens.Total, most, barWidth)
		}
		add(names[i], r, bar)
	}
	if len(u.Rows) > 1 {
		add("total", u.Total, "")
	}
	return g.print(w, opts)
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

// countText formats a number of tokens with a comma between thousands; "" for none.
func countText(n int64) string {
	if n == 0 {
		return ""
	}
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
	g := grid{columns: []column{
		{header: "AGENT"},
		{header: "LIMIT", preferred: 20, min: 8},
		{header: "USED", alignRight: true},
		{header: "RESETS", preferred: 30, min: 16},
		{header: "NOTED", alignRight: true},
		{header: "MODEL", dropOrder: 1, preferred: 20, min: 12},
		{header: "NOTICE", dropOrder: 2, preferred: 30, min: 12},
	}}
	for _, l := range limits {
		g.add(row{cells: []string{
			l.Adapter, Sanitize(cmp.Or(l.Name, "-")), usedText(l), opts.resetText(l.ResetsAt), opts.agoText(l.Time), Sanitize(l.Model), Sanitize(l.Text),
		}})
	}
	return g.print(w, opts)
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
