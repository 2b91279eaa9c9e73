package render

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"agentctl/discover"
	"agentctl/internal/object"
)

// TextOptions says how tables and blocks of text are formatted.
type TextOptions struct {
	// Width is the width of the terminal in columns; 0: unlimited, and nothing is truncated.
	Width int
	// Color enables ANSI colours.
	Color bool
	// Now is the time from which ages are computed. Times are printed in its time zone.
	Now time.Time
	// Home is the home directory, which is printed as ~.
	Home string
	// MinShortID returns how many characters of an ID agentctl accepts at least as an abbreviation of it; nil:
	// [discover.MinShortID].
	MinShortID func(agent, id string) int
}

// ShortDir replaces the home directory with ~, if it is a whole prefix of path elements.
func (to TextOptions) ShortDir(path string) string {
	home := filepath.Clean(to.Home)
	if to.Home == "" || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// Age formats the time since t in one unit: 12s, 5m, 3h, 9d. It returns "" if t is the zero time, and 0s if t is
// in the future, which a clock that was set back can cause.
func Age(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	switch d := max(0, now.Sub(t)); {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	default:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
}

func ageText(timestamp any, now time.Time) string {
	t, _ := object.ParseTimestamp(fmt.Sprint(timestamp))
	return Age(t, now)
}

// localTime formats a JSON timestamp in the time zone of the user.
func (to TextOptions) localTime(timestamp string) string {
	t, ok := object.ParseTimestamp(timestamp)
	if !ok {
		return ""
	}
	return t.In(to.Now.Location()).Format("2006-01-02 15:04")
}

func (to TextOptions) timeAndAge(timestamp string) string {
	t, ok := object.ParseTimestamp(timestamp)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s (%s ago)", t.In(to.Now.Location()).Format(time.DateTime), Age(t, to.Now))
}

// agoText says how old a time is.
func (to TextOptions) agoText(timestamp string) string {
	t, ok := object.ParseTimestamp(timestamp)
	if !ok {
		return "-"
	}
	return Age(t, to.Now) + " ago"
}

// resetText says when a limit is reset, or since when it has been.
func (to TextOptions) resetText(timestamp string) string {
	t, ok := object.ParseTimestamp(timestamp)
	switch {
	case !ok:
		return "-"
	case t.After(to.Now):
		return fmt.Sprintf("%s (in %s)", to.localTime(timestamp), Age(to.Now, t))
	}
	return fmt.Sprintf("%s (%s ago)", to.localTime(timestamp), Age(t, to.Now))
}

// quotaText describes a usage limit as the agent recorded it.
func (to TextOptions) quotaText(q object.Quota) string {
	var parts []string
	if used := q.Used; used != nil {
		parts = append(parts, fmt.Sprintf("%.3g%% used", *used))
	}
	if q.Reached {
		parts = append(parts, "reached")
	}
	switch at, ok := object.ParseTimestamp(q.ResetsAt); {
	case ok && at.After(to.Now):
		parts = append(parts, "resets "+to.resetText(q.ResetsAt))
	case ok:
		parts = append(parts, "has reset since, "+to.resetText(q.ResetsAt))
	}
	parts = append(parts, Sanitize(q.Text))
	if q.Time != "" {
		parts = append(parts, "noted "+to.agoText(q.Time))
	}
	return joinKnown(" ", Sanitize(q.Name), joinKnown(", ", parts...))
}

// ByteSize formats a number of bytes in a binary unit: 512 B, 1.5 KiB.
func ByteSize(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	size, prefix := float64(n)/unit, 0
	for size >= unit && prefix < len("KMGT")-1 {
		size, prefix = size/unit, prefix+1
	}
	return fmt.Sprintf("%.1f %ciB", size, "KMGT"[prefix])
}

// knownText formats what n points to; "" if it is not known.
func knownText[T any](n *T, format func(T) string) string {
	if n == nil {
		return ""
	}
	return format(*n)
}

// cpuText formats processor time: 1.5s, 2m05s, 1h30m.
func cpuText(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	default:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
}

// numbersText formats numbers with commas between them.
func numbersText(list []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ","), "[]")
}

// Thousands formats a count: 999, 1.5k, 2.0M.
func Thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1000_000)
}

// Count formats a number that is not negative with a comma between thousands.
func Count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// countText is [Count]; "" for 0.
func countText(n int64) string {
	if n == 0 {
		return ""
	}
	return Count(n)
}

// usdText formats an amount. One that is known in part only is a least amount.
func usdText(usd *float64, partial bool) string {
	if usd == nil {
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

func usedText(l object.UsageLimit) string {
	switch used := l.Used; {
	case used != nil:
		return fmt.Sprintf("%.3g%%", *used)
	case l.Reached:
		return "reached"
	}
	return ""
}

// positiveText formats a number; "" for none.
func positiveText(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// SessionID is the ID of a session and the name of its agent, as JSON has them.
type SessionID struct{ Agent, ID string }

// ShortIDs sanitizes IDs for a table. On a terminal it shortens each ID to its shortest prefix that is unique in
// the table and at least as long as MinShortID requires; equal IDs stay equal. Elsewhere it shortens none.
func (to TextOptions) ShortIDs(ids []SessionID) []string {
	out := make([]string, len(ids))
	for i, id := range ids {
		out[i] = Sanitize(id.ID)
	}
	if to.Width == 0 {
		return out
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(out)))
	prefixLen := make(map[string]int, len(sorted))
	for i, id := range sorted {
		n := 0
		if i > 0 {
			n = max(n, commonPrefixLen(id, sorted[i-1])+1)
		}
		if i+1 < len(sorted) {
			n = max(n, commonPrefixLen(id, sorted[i+1])+1)
		}
		prefixLen[id] = n
	}
	for i, id := range out {
		least := discover.MinShortID
		if to.MinShortID != nil {
			least = to.MinShortID(ids[i].Agent, ids[i].ID)
		}
		n := min(len(id), max(prefixLen[id], least))
		for n < len(id) && !utf8.RuneStart(id[n]) {
			n++
		}
		out[i] = id[:n]
	}
	return out
}

// shortIDsOf are the [TextOptions.ShortIDs] of the rows of a table.
func shortIDsOf[T any](o TextOptions, rows []T, id func(T) SessionID) []string {
	ids := make([]SessionID, len(rows))
	for i, row := range rows {
		ids[i] = id(row)
	}
	return o.ShortIDs(ids)
}

// commonPrefixLen is the length of the common prefix in bytes.
func commonPrefixLen(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

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

// barWidth is the width of the longest bar in a table.
const barWidth = 20
