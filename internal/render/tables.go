package render

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"agentctl/internal/object"
)

// LaunchTable writes a header, and one row a launch: its name, its session ID or -, its branch and its directory.
func LaunchTable(w io.Writer, launches []object.LaunchResult, opts TextOptions) error {
	ids := shortIDsOf(opts, launches, func(l object.LaunchResult) SessionID {
		if l.Session == nil {
			return SessionID{}
		}
		return SessionID{l.Adapter, object.Known(l.Session.ID)}
	})
	dir := func(dir string) string {
		if opts.Width > 0 {
			return opts.ShortDir(dir)
		}
		return dir
	}
	return newGrid(
		len(launches),
		column{title: "NAME", cell: func(i int) string { return Sanitize(launches[i].Name) }, preferred: 20, min: 12},
		column{title: "ID", cell: func(i int) string { return object.HostPrefix(launches[i].Host) + cmp.Or(ids[i], "-") }},
		column{title: "BRANCH", cell: func(i int) string { return Sanitize(launches[i].Branch) }, dropLate: 1, preferred: 24, min: 12},
		column{title: "DIR", cell: func(i int) string { return Sanitize(dir(launches[i].CWD)) }, keepEnd: true, preferred: 24, min: 12},
	).print(w, opts)
}

// LockTable writes a header, and one row a lock.
func LockTable(w io.Writer, locks []object.Lock, opts TextOptions) error {
	ids := shortIDsOf(opts, locks, func(l object.Lock) SessionID { return SessionID{l.Adapter, object.Known(l.SessionID)} })
	return newGrid(
		len(locks),
		column{title: "DIR", cell: func(i int) string { return Sanitize(opts.ShortDir(locks[i].Directory)) }, keepEnd: true, preferred: 20, min: 12},
		column{title: "TYPE", cell: func(i int) string { return locks[i].Kind }, dropLate: 1},
		column{title: "BY", cell: func(i int) string { return Sanitize(lockHolder(locks[i], ids[i])) }, min: 30},
		column{title: "PID", cell: func(i int) string { return positiveText(locks[i].PID) }, dropEarly: 1, alignRight: true},
		column{title: "SINCE", cell: func(i int) string { return opts.localTime(locks[i].Since) }, dropLate: 4},
		column{title: "UNTIL", cell: func(i int) string { return opts.localTime(locks[i].Until) }, dropLate: 3},
		column{title: "REASON", cell: func(i int) string { return Sanitize(locks[i].Reason) }, dropLate: 2, preferred: 30, min: 12},
	).print(w, opts)
}

// lockHolder is the session with this short ID, or else who locked the directory.
func lockHolder(l object.Lock, id string) string {
	if l.Adapter != "" {
		return strings.TrimSuffix(l.Adapter+" "+id, " ")
	}
	return cmp.Or(l.LockedBy, "-")
}

// OrphanTable writes a header, and one row a process.
func OrphanTable(w io.Writer, orphans []object.Orphan, opts TextOptions) error {
	ids := shortIDsOf(opts, orphans, func(o object.Orphan) SessionID { return SessionID{o.Adapter, object.Known(o.SessionID)} })
	return newGrid(
		len(orphans),
		column{title: "PID", cell: func(i int) string { return object.HostPrefix(orphans[i].Host) + strconv.Itoa(orphans[i].PID) }, alignRight: true},
		column{title: "PPID", cell: func(i int) string { return strconv.Itoa(orphans[i].PPID) }, dropEarly: 4, alignRight: true},
		column{title: "AGENT", cell: func(i int) string { return orphans[i].Adapter }, dropLate: 1},
		column{title: "SESSION", cell: func(i int) string { return cmp.Or(ids[i], "-") }, dropLate: 2},
		column{title: "AGE", cell: func(i int) string { return ageText(orphans[i].StartedAt, opts.Now) }, dropEarly: 1, alignRight: true},
		column{title: "CPU", cell: func(i int) string { return knownText(orphans[i].CPU, cpuText) }, dropEarly: 3, alignRight: true},
		column{title: "MEMORY", cell: func(i int) string { return knownText(orphans[i].Memory, ByteSize) }, dropEarly: 2, alignRight: true},
		column{title: "PORTS", cell: func(i int) string { return numbersText(orphans[i].Ports) }, preferred: 14, min: 9},
		column{title: "COMMAND", cell: func(i int) string { return commandText(orphans[i].Process, opts) }, preferred: 24, min: 12},
	).print(w, opts)
}

// shortHashLen is the number of digits of a commit hash in a table, as in the output of git for most repositories.
const shortHashLen = 9

// WorktreeTable writes a header, and one row a worktree.
func WorktreeTable(w io.Writer, list []object.Worktree, opts TextOptions) error {
	var fullIDs []SessionID
	for _, t := range list {
		for _, s := range t.Sessions {
			fullIDs = append(fullIDs, SessionID{s.Adapter, object.Known(s.ID)})
		}
	}
	ids := opts.ShortIDs(fullIDs)
	sessions := make([]string, len(list))
	for i, t := range list {
		var texts []string
		for _, s := range t.Sessions {
			texts = append(texts, fmt.Sprintf("%s %s %s", s.Adapter, cmp.Or(ids[0], "-"), s.Status))
			ids = ids[1:]
		}
		sessions[i] = strings.Join(texts, ", ")
	}
	return newGrid(
		len(list),
		column{title: "PATH", cell: func(i int) string { return Sanitize(opts.ShortDir(list[i].Path)) }, keepEnd: true, min: 20},
		column{title: "BRANCH", cell: func(i int) string { return Sanitize(cmp.Or(list[i].Branch, "-")) }, dropLate: 2, min: 12},
		column{title: "HEAD", cell: func(i int) string { return list[i].Head[:min(len(list[i].Head), shortHashLen)] }, dropEarly: 1},
		column{title: "STATE", cell: func(i int) string { return Sanitize(strings.Join(worktreeStates(list[i]), ", ")) }, dropLate: 3, min: 20},
		column{title: "SESSIONS", cell: func(i int) string { return sessions[i] }, dropLate: 1, min: 30},
	).print(w, opts)
}

// worktreeStates returns what is special about the worktree, such as "locked (reason)".
func worktreeStates(t object.Worktree) []string {
	var out []string
	for _, state := range []struct {
		is           bool
		name, reason string
	}{
		{t.Main, "main", ""},
		{t.Bare, "bare", ""},
		{t.Detached, "detached", ""},
		{t.HalfMade, "half made", ""},
		{t.Locked && !t.HalfMade, "locked", t.LockReason},
		{t.Prunable, "prunable", t.PruneReason},
	} {
		if state.is {
			out = append(out, strings.TrimSuffix(state.name+" ("+state.reason+")", " ()"))
		}
	}
	return out
}

// GitHookTable writes a header, and one row a hook.
func GitHookTable(w io.Writer, list []object.GitHook, opts TextOptions) error {
	return newGrid(
		len(list),
		column{title: "HOOK", cell: func(i int) string { return list[i].Hook }},
		column{title: "STATE", cell: func(i int) string { return strings.ReplaceAll(list[i].State, "_", " ") }},
		column{title: "PATH", cell: func(i int) string { return Sanitize(opts.ShortDir(list[i].Path)) }, dropEarly: 1, keepEnd: true},
		column{title: "REASON", cell: func(i int) string { return Sanitize(list[i].Reason) }, preferred: 40, min: 12},
	).print(w, opts)
}

// HostTable writes a header, and one row for each host.
func HostTable(w io.Writer, hosts []object.HostCheck, opts TextOptions) error {
	return newGrid(
		len(hosts),
		column{title: "HOST", cell: func(i int) string { return hosts[i].Host }},
		column{title: "AGENTCTL", cell: func(i int) string { return Sanitize(cmp.Or(hosts[i].Version, "-")) }},
		column{title: "PLATFORM", cell: func(i int) string { return Sanitize(cmp.Or(strings.Trim(hosts[i].OS+"/"+hosts[i].Arch, "/"), "-")) }, dropLate: 2},
		column{title: "AGENTS", cell: func(i int) string { return agentsText(&hosts[i]) }, dropLate: 1, preferred: 30, min: 12},
		column{title: "PROBLEM", cell: func(i int) string { return Sanitize(hosts[i].Problem) }, preferred: 30, min: 12},
	).print(w, opts)
}

func agentsText(h *object.HostCheck) string {
	var out []string
	for _, a := range h.Agents {
		out = append(out, strings.TrimSpace(a.Adapter+" "+a.Version))
	}
	return Sanitize(cmp.Or(strings.Join(out, ", "), "-"))
}

// UsageTable writes a header, one row for each of the report's, and the total. On a terminal each row has a bar.
func UsageTable(w io.Writer, u object.Usage, opts TextOptions) error {
	most := int64(0)
	ids := shortIDsOf(opts, u.Rows, func(r object.UsageRow) SessionID { return SessionID{r.Adapter, r.Key} })
	names := make([]string, len(u.Rows))
	for i, r := range u.Rows {
		most = max(most, r.Tokens.Total)
		name := cmp.Or(r.Key, "other")
		switch u.By {
		case "session":
			name = ids[i]
		case "project":
			name = opts.ShortDir(name)
		}
		names[i] = object.HostPrefix(r.Host) + Sanitize(name)
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
	key := column{title: strings.ToUpper(u.By), cell: func(i int) string { return names[i] }, preferred: 30, min: 10, keepEnd: u.By == "project"}
	if u.By == "session" {
		key.preferred, key.min = 0, 0 // commands take the ID
	}
	return newGrid(
		len(rows),
		key,
		column{title: "AGENT", cell: func(i int) string { return rows[i].Adapter }, dropLate: 4},
		column{title: "IN", cell: func(i int) string { return countText(rows[i].Tokens.In) }, dropLate: 5, alignRight: true},
		column{title: "CACHE WRITE", cell: func(i int) string { return countText(rows[i].Tokens.CacheWrite) }, dropLate: 7, alignRight: true},
		column{title: "CACHE READ", cell: func(i int) string { return countText(rows[i].Tokens.CacheRead) }, dropLate: 6, alignRight: true},
		column{title: "OUT", cell: func(i int) string { return countText(rows[i].Tokens.Out) }, dropLate: 3, alignRight: true},
		column{title: "TOTAL", cell: func(i int) string { return countText(rows[i].Tokens.Total) }, alignRight: true},
		column{title: "COST", cell: func(i int) string { return usdText(rows[i].Cost, rows[i].CostPartial) }, alignRight: true},
		column{title: "ESTIMATED", cell: func(i int) string { return usdText(rows[i].ReckonedCost, rows[i].ReckonedPartial) }, alignRight: true},
		column{title: "SESSIONS", cell: func(i int) string { return strconv.Itoa(rows[i].Sessions) }, dropEarly: 2, alignRight: true},
		column{cell: bar, dropEarly: 1},
		column{title: "TITLE", cell: func(i int) string { return Sanitize(rows[i].Title) }, dropLate: 2, preferred: 20, min: 12},
	).print(w, opts)
}

// UsageLimitTable writes a header, and one row for each limit.
func UsageLimitTable(w io.Writer, limits []object.UsageLimit, opts TextOptions) error {
	return newGrid(
		len(limits),
		column{title: "AGENT", cell: func(i int) string { return object.HostPrefix(limits[i].Host) + limits[i].Adapter }},
		column{title: "LIMIT", cell: func(i int) string { return Sanitize(cmp.Or(limits[i].Name, "-")) }, preferred: 20, min: 8},
		column{title: "USED", cell: func(i int) string { return usedText(limits[i]) }, alignRight: true},
		column{title: "RESETS", cell: func(i int) string { return opts.resetText(limits[i].ResetsAt) }, preferred: 30, min: 16},
		column{title: "NOTED", cell: func(i int) string { return opts.agoText(limits[i].Time) }, alignRight: true},
		column{title: "MODEL", cell: func(i int) string { return Sanitize(limits[i].Model) }, dropLate: 1, preferred: 20, min: 12},
		column{title: "NOTICE", cell: func(i int) string { return Sanitize(limits[i].Text) }, dropLate: 2, preferred: 30, min: 12},
	).print(w, opts)
}

// DiskTable writes a header, one row for each of the report's, and the total.
func DiskTable(w io.Writer, u object.DiskUsage, opts TextOptions) error {
	names := shortIDsOf(opts, u.Rows, func(r object.DiskRow) SessionID { return SessionID{r.Adapter, r.Key} })
	for i, r := range u.Rows {
		switch {
		case r.Key == "":
			names[i] = Sanitize(cmp.Or(opts.ShortDir(r.Path), "-"))
		case u.By == "project":
			names[i] = Sanitize(opts.ShortDir(r.Key))
		case u.By != "session":
			names[i] = Sanitize(r.Key)
		}
	}
	rows := u.Rows
	if len(rows) > 1 {
		total := object.DiskRow{Bytes: u.Total.Bytes, Estimated: u.Total.Estimated, Sessions: u.Total.Sessions}
		rows, names = append(slices.Clone(rows), total), append(names, "total")
	}
	share := func(i int) string {
		if u.Total.Bytes <= 0 {
			return ""
		}
		return fmt.Sprintf("%d%%", 100*rows[i].Bytes/u.Total.Bytes)
	}
	sessions := func(i int) string {
		if u.By == "session" {
			return ""
		}
		return positiveText(rows[i].Sessions)
	}
	return newGrid(
		len(rows),
		column{title: "SIZE", cell: func(i int) string { return SizeText(rows[i]) }, alignRight: true},
		column{cell: share, dropLate: 3},
		column{title: strings.ToUpper(u.By), cell: func(i int) string { return names[i] }, preferred: 30, min: 10, keepEnd: u.By != "month"},
		column{title: "AGENT", cell: func(i int) string { return rows[i].Adapter }, dropLate: 4},
		column{title: "SESSIONS", cell: sessions, dropEarly: 2, alignRight: true},
		column{title: "LAST", cell: func(i int) string { return ageText(rows[i].LastActivityAt, opts.Now) }, dropEarly: 1, alignRight: true},
		column{title: "WHAT", cell: func(i int) string { return Sanitize(partsText(rows[i].Parts)) }, dropLate: 5, preferred: 24, min: 10},
		column{title: "TITLE", cell: func(i int) string { return Sanitize(rows[i].Title) }, dropLate: 2, preferred: 20, min: 12},
	).print(w, opts)
}

// SizeText is the size; "~" marks one that is estimated.
func SizeText(r object.DiskRow) string {
	if r.Estimated {
		return "~" + ByteSize(r.Bytes)
	}
	return ByteSize(r.Bytes)
}

// partsText names the largest parts.
func partsText(parts []object.DiskPart) string {
	const most = 2
	if len(parts) == 1 {
		return parts[0].Kind
	}
	var texts []string
	for _, p := range parts[:min(most, len(parts))] {
		texts = append(texts, p.Kind+" "+ByteSize(p.Bytes))
	}
	if len(parts) > most {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}

// Exposition writes metrics in the text exposition format of Prometheus, version 0.0.4. Each has a sample.
func Exposition(w io.Writer, metrics []object.Metric) error {
	out := bufio.NewWriter(w)
	for _, m := range metrics {
		kind := "gauge"
		if m.Counter {
			kind = "counter"
		}
		help := strings.ReplaceAll(Sanitize(m.Help), `\`, `\\`)
		out.WriteString("# HELP " + m.Name + " " + help + "\n# TYPE " + m.Name + " " + kind + "\n")
		for _, s := range m.Samples {
			out.WriteString(m.Name + labelsText(s) + " " + strconv.FormatFloat(s.Value, 'f', -1, 64) + "\n")
		}
	}
	return out.Flush()
}

// labelsText formats the labels. Their values are sanitized.
func labelsText(s object.Sample) string {
	if len(s.Labels) == 0 {
		return ""
	}
	var pairs []string
	for _, l := range s.Labels {
		value := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(Sanitize(l.Value))
		pairs = append(pairs, l.Name+`="`+value+`"`)
	}
	return "{" + strings.Join(pairs, ",") + "}"
}
