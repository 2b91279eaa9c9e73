package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/internal/config"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/proc"
)

func doctorCommand(env Env) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Usage:              "show what agentctl finds on this machine: programs, stores, processes, configuration",
		Flags:              []cli.Flag{JSONFlag(&o.JSON), NoColorFlag(&o.NoColor)},
		CustomHelpTemplate: HelpTemplate("agentctl doctor", "agentctl doctor --json"),
		Action:             func(c *cli.Context) error { return runDoctor(c.Context, env, o) },
	}
}

// findings is what doctor prints; its field names are the JSON contract.
type findings struct {
	Agents    []agentFindings `json:"agents"`
	Processes processFindings `json:"processes"`
	Config    config.Config   `json:"config"`
	Warnings  []string        `json:"warnings"`
}

type processFindings struct {
	Seen int `json:"seen"`
	// Agents counts processes that run sessions, Unreadable those whose sessions cannot be read.
	Agents     int `json:"agents"`
	Unreadable int `json:"unreadable"`
	// Hidden: the system shows this user's processes only.
	Hidden bool `json:"hidden"`
	// CrossCheck is absent if there was no process table to compare, or go-ps could not read it.
	CrossCheck *crossCheck `json:"crossCheck,omitempty"`
}

// crossCheck is the comparison of the process table with the one that go-ps reads.
type crossCheck struct {
	Compared    int               `json:"compared"`
	Differences []proc.Difference `json:"differences"`
}

func runDoctor(ctx context.Context, env Env, o *CommonFlags) error {
	var broken error // the configuration file is one of the things to be examined
	env.ConfigFailed = func(err error) { broken = err }
	c, err := env.NewCall("doctor", o, nil)
	if err != nil {
		return err
	}
	working, done := env.StartWork(ctx, "examining the agents' stores")
	found, err := examine(working, c)
	done()
	if found.warn(broken); broken != nil {
		found.Config.File = config.Path(env.Getenv)
	}
	if err != nil {
		return err
	}
	if o.JSON {
		err = render.JSON(env.Stdout, found)
	} else {
		err = found.write(env.Stdout, config.Path(env.Getenv), c.Style)
	}
	if err != nil {
		return err
	}
	for _, w := range found.Warnings {
		env.Warn(w)
	}
	for _, a := range found.Agents {
		if w := a.warning(); w != "" {
			env.Warn(w)
		}
	}
	if len(found.Warnings) > 0 {
		return ErrPartial
	}
	return nil
}

// examine reads what there is of every agent.
func examine(ctx context.Context, c *Call) (findings, error) {
	f := findings{Config: c.Config, Agents: []agentFindings{}, Warnings: []string{}}
	live, err := c.Scanner.List(ctx, discover.SessionFilter{Subagents: true})
	if err != nil {
		return f, err
	}
	f.Processes = processesOf(live)
	if !live.ProcessesUnknown {
		compared, differences, err := c.CrossCheck(live.Table)
		if f.warn(err); err == nil {
			f.Processes.CrossCheck = &crossCheck{compared, append([]proc.Difference{}, differences...)}
		}
	}
	for _, w := range live.Warnings {
		f.warn(w)
	}
	for _, a := range c.Adapters {
		f.Agents = append(f.Agents, examineAgent(ctx, c, a, live, f.warn))
	}
	return f, ctx.Err()
}

// warn stores each of the joined errors once.
func (f *findings) warn(err error) {
	if err == nil {
		return
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			f.warn(e)
		}
		return
	}
	if text := err.Error(); !slices.Contains(f.Warnings, text) {
		f.Warnings = append(f.Warnings, text)
	}
}

func processesOf(live discover.Result) processFindings {
	p := processFindings{Seen: live.Table.Len(), Hidden: live.Table.Hidden()}
	running, unreadable := map[int]bool{}, map[int]bool{}
	for _, s := range live.Sessions {
		for _, process := range s.Processes {
			running[process.ID.PID] = true
		}
		for _, e := range s.Evidence {
			if e.Unreadable != "" {
				unreadable[e.Process.PID] = true
			}
		}
	}
	p.Agents, p.Unreadable = len(running), len(unreadable)
	return p
}

// write prints the findings as text. wanted is the path where a configuration file would be.
func (f findings) write(w io.Writer, wanted string, style render.TextOptions) error {
	out := bufio.NewWriter(w)
	line := func(key, text string) {
		fmt.Fprintln(out, render.WrapHanging(fmt.Sprintf("  %-8s  ", key), render.Sanitize(text), style.Width))
	}
	for _, a := range f.Agents {
		fmt.Fprintln(out, a.Adapter)
		for _, b := range a.Binaries {
			line("program", b.text())
		}
		if len(a.Binaries) == 0 {
			line("program", "none in PATH")
		}
		if a.NewestTried != "" {
			line("tested", "up to version "+a.NewestTried)
		}
		if a.ReadInSource != "" {
			line("read", "in source "+a.ReadInSource+", not yet seen on the program")
		}
		for _, h := range a.Homes {
			line("home", h.text(style))
		}
	}
	fmt.Fprintln(out, "processes")
	line("seen", f.Processes.text())
	if c := f.Processes.CrossCheck; c != nil {
		line("go-ps", fmt.Sprintf("%d compared, %s", c.Compared, plural(len(c.Differences), "difference")))
		for _, d := range c.Differences {
			line("", fmt.Sprintf("pid %d (%s): %s", d.PID, d.Name, d.Text))
		}
	}
	fmt.Fprintln(out, "configuration")
	if f.Config.File == "" {
		line("file", "none (looked for "+wanted+")")
	} else {
		line("file", f.Config.File)
	}
	line("since", string(f.Config.Since))
	line("color", string(f.Config.Color))
	line("strict", fmt.Sprint(f.Config.Strict))
	for _, name := range slices.Sorted(maps.Keys(f.Config.Hosts)) {
		line("hosts", name+": "+f.Config.Hosts[name])
	}
	for _, agent := range slices.Sorted(maps.Keys(f.Config.Homes)) {
		line("homes", agent+": "+strings.Join(f.Config.Homes[agent], ", "))
	}
	return out.Flush()
}

func (p processFindings) text() string {
	text := fmt.Sprintf("%d, of which %d run sessions", p.Seen, p.Agents)
	if p.Unreadable > 0 {
		text += fmt.Sprintf("; %d cannot be read", p.Unreadable)
	}
	if p.Hidden {
		text += "; those of other users are hidden by the system"
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

type agentFindings struct {
	Adapter  string         `json:"adapter"`
	Binaries []binary       `json:"binaries"`
	Homes    []homeFindings `json:"homes"`
	// NewestTried is the newest version of the agent in docs/support.md.
	NewestTried string `json:"newestTried,omitempty"`
	// ReadInSource is a version that was only read in its source.
	ReadInSource string `json:"readInSource,omitempty"`
	// NewerVersions are those of live agents that are newer.
	NewerVersions []string `json:"newerVersions,omitempty"`
	// UnknownKinds are kinds of records that live sessions have stored and that agentctl does not know.
	UnknownKinds []string `json:"unknownKinds,omitempty"`
}

// examineAgent looks for the programs, homes and sessions of an agent, and for what of its live sessions agentctl was not tested with.
func examineAgent(ctx context.Context, c *Call, a discover.Adapter, live discover.Result, warn func(error)) agentFindings {
	tried := a.Tried()
	found := agentFindings{
		Adapter: string(a.Name()), Binaries: binaries(c.Env, a), Homes: []homeFindings{}, NewestTried: tried.Newest, ReadInSource: tried.ReadInSource,
	}
	for _, home := range c.Scanner.Homes(a, live.Table) {
		h, err := examineHome(ctx, a, home, live.Sessions)
		warn(err)
		found.Homes = append(found.Homes, h)
	}
	for _, s := range live.Sessions {
		if s.Agent != a.Name() || s.Status == discover.Stopped || tried.Newest == "" {
			continue
		}
		if v := tried.NewerVersion(s); v != "" {
			found.NewerVersions = append(found.NewerVersions, v)
		}
		kinds, err := c.Scanner.UnknownKinds(ctx, s)
		warn(err)
		found.UnknownKinds = append(found.UnknownKinds, kinds...)
	}
	for _, list := range []*[]string{&found.NewerVersions, &found.UnknownKinds} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return found
}

// warning describes what agentctl was not tested with; "" if there is nothing.
func (a agentFindings) warning() string {
	var parts []string
	if len(a.NewerVersions) > 0 {
		parts = append(parts, "a live session runs "+strings.Join(a.NewerVersions, ", ")+", and agentctl was tested up to "+a.NewestTried)
	}
	if len(a.UnknownKinds) > 0 {
		parts = append(parts, "live sessions have records of kinds that agentctl does not know: "+strings.Join(a.UnknownKinds, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return a.Adapter + ": " + strings.Join(parts, "; ") + "; what it says of them may be incomplete"
}

// binary is a program that is found in PATH.
type binary struct {
	Path     string `json:"path"`
	RealPath string `json:"realPath,omitempty"`
	// Version is read from the installed files; the program is not run.
	Version string `json:"version,omitempty"`
}

// binaries finds an agent's programs in PATH, the one that a shell would run first. A file with two names counts once.
func binaries(env Env, a discover.Adapter) []binary {
	list, seen := []binary{}, map[string]bool{}
	for _, dir := range filepath.SplitList(env.Getenv("PATH")) {
		path := filepath.Join(dir, a.Program())
		info, err := os.Stat(path)
		if !filepath.IsAbs(path) || err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			continue
		}
		real, err := filepath.EvalSymlinks(path)
		if err != nil || seen[real] {
			continue
		}
		seen[real] = true
		b := binary{Path: path, Version: installedVersion(real)}
		if real != path {
			b.RealPath = real
		}
		list = append(list, b)
	}
	return list
}

// installedVersion reads the version from an npm package around the program, or from a path that ends in it, as native
// installers make them (…/versions/2.1.197); "" if there is neither.
func installedVersion(path string) string {
	if name := filepath.Base(path); isVersion(name) {
		return name
	}
	const depth = 4 // bin/x, vendor/arch/bin/x
	dir := filepath.Dir(path)
	for range depth {
		const longest = 1 << 20 // bytes; real ones have a few thousand
		text, err := storage.ReadFile(filepath.Join(dir, "package.json"), longest)
		var pkg struct {
			Version string `json:"version"`
		}
		if err == nil && json.Unmarshal(text, &pkg) == nil && isVersion(pkg.Version) {
			return pkg.Version
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// isVersion reports whether s is a version such as 1.2.3 or 1.2.3-rc.1.
func isVersion(s string) bool {
	return regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-|$)`).MatchString(s)
}

func (b binary) text() string {
	text := b.Path
	if b.RealPath != "" {
		text += " -> " + b.RealPath
	}
	if b.Version != "" {
		text += ", version " + b.Version
	}
	return text
}

// homeFindings describes one home of an agent.
type homeFindings struct {
	Path   string `json:"path"`
	Exists bool   `json:"exists"`
	// Trust is ours, seen or foreign; SeenIn is the process that names a seen home.
	Trust  string `json:"trust"`
	SeenIn int    `json:"seenIn,omitempty"`
	// Sessions and Children count stored sessions, Live live ones.
	Sessions int `json:"sessions"`
	Children int `json:"children"`
	// Bytes is the size of the files that hold the sessions, Formats their kinds.
	Bytes   int64    `json:"bytes"`
	Formats []string `json:"formats,omitempty"`
	Newest  string   `json:"newest,omitempty"`
	Live    int      `json:"live"`

	newest time.Time
}

func examineHome(ctx context.Context, a discover.Adapter, home discover.Home, live []discover.Session) (homeFindings, error) {
	h := homeFindings{Path: home.Dir, Trust: home.Trust.String(), SeenIn: home.SeenInPID}
	if home.FilesOnly {
		h.Path = home.Files[0]
	}
	_, err := os.Stat(h.Path)
	h.Exists = err == nil
	for _, s := range live {
		if s.Agent == a.Name() && s.Home == home.Dir && (!home.FilesOnly || s.Path == h.Path) {
			h.Live++
		}
	}
	entries, err := discover.ListEntries(discover.Confine(ctx, []discover.Home{home}), a, []discover.Home{home}, discover.EntryFilter{Subagents: true})
	files := map[string]int64{}
	for _, e := range entries {
		if e.Parent == "" {
			h.Sessions++
		} else {
			h.Children++
		}
		if e.Updated.After(h.newest) {
			h.newest, h.Newest = e.Updated, object.Timestamp(e.Updated)
		}
		if name := storeFormat(e.Path); !slices.Contains(h.Formats, name) {
			h.Formats = append(h.Formats, name)
		}
		files[e.Path] = e.Size
	}
	slices.Sort(h.Formats)
	for path, size := range files {
		h.Bytes += size
		for _, name := range []string{path, path + "-wal"} { // of a database, which holds many
			if info, err := os.Stat(name); size == 0 && err == nil && info.Mode().IsRegular() {
				h.Bytes += info.Size()
			}
		}
	}
	return h, err
}

// storeFormat returns the format of a file, by its name.
func storeFormat(path string) string {
	for suffix, name := range map[string]string{".jsonl": "jsonl", ".jsonl.zst": "jsonl.zst", ".json": "json", ".db": "sqlite"} {
		if strings.HasSuffix(path, suffix) {
			return name
		}
	}
	return "other"
}

func (h homeFindings) text(style render.TextOptions) string {
	if !h.Exists {
		return h.Path + ": does not exist"
	}
	parts := []string{plural(h.Sessions, "session")}
	if h.Children > 0 {
		parts = append(parts, plural(h.Children, "sub-agent"))
	}
	if h.Sessions+h.Children > 0 {
		parts = append(parts, render.ByteSize(h.Bytes)+" of "+strings.Join(h.Formats, ", "))
	}
	if !h.newest.IsZero() {
		parts = append(parts, "newest "+render.Age(h.newest, style.Now)+" ago")
	}
	parts = append(parts, fmt.Sprintf("%d live", h.Live))
	if h.Trust != discover.TrustOurs.String() {
		who := "another user's, or in another namespace"
		if h.SeenIn > 0 {
			who = fmt.Sprintf("named by pid %d only", h.SeenIn)
		}
		parts = append(parts, who+"; shown, not acted on")
	}
	return h.Path + ": " + strings.Join(parts, ", ")
}
