package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// clockTicks is USER_HZ: the kernel's ABI fixes it at 100 on every architecture Go supports.
const clockTicks = 100

// Take reads the process table. Processes that vanish meanwhile are left out.
func Take(ctx context.Context) (*Table, error) {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("reading the process table: %w", err)
	}
	var list []Process
	for _, n := range names {
		pid, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := Inspect(pid)
		if err != nil {
			continue
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b Process) int { return a.ID.PID - b.ID.PID })
	return newTable(list), nil
}

// boot is read once: neither value changes while the machine runs.
var boot = sync.OnceValues(func() (b struct {
	id   string
	time time.Time
}, err error) {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return b, err
	}
	b.id = strings.TrimSpace(string(id))
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return b, err
	}
	for line := range strings.Lines(string(stat)) {
		if s, ok := strings.CutPrefix(line, "btime "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
			b.time = time.Unix(n, 0).UTC()
			return b, err
		}
	}
	return b, errors.New("/proc/stat: no btime")
})

// Inspect reads one process by pid, a zombie too. It returns [ErrGone] if there is none.
func Inspect(pid int) (Process, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			return Process{}, ErrGone
		}
		return Process{}, err
	}
	p, err := parseStat(raw)
	if err != nil {
		return Process{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
	}
	b, err := boot()
	if err != nil {
		return Process{}, err
	}
	p.ID.Birth = b.id + "/" + strconv.FormatUint(p.Ticks, 10)
	p.Started = b.time.Add(time.Duration(p.Ticks) * time.Second / clockTicks)
	p.UID = -1
	var st unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d", pid), &st) == nil {
		p.UID = int(st.Uid)
	}
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil {
		p.Exe, p.Deleted = strings.CutSuffix(exe, " (deleted)")
	}
	return p, nil
}

// parseStat reads proc(5) stat. The name may hold any byte, ')' and newline too: it ends at the last ')'.
func parseStat(raw []byte) (Process, error) {
	open, end := bytes.IndexByte(raw, '('), bytes.LastIndexByte(raw, ')')
	if open < 0 || end < open {
		return Process{}, errors.New("no name in it")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw[:open])))
	if err != nil {
		return Process{}, fmt.Errorf("pid: %w", err)
	}
	f := strings.Fields(string(raw[end+1:]))
	if len(f) < 20 || len(f[0]) != 1 {
		return Process{}, fmt.Errorf("%d fields after the name, want 20", len(f))
	}
	p := Process{ID: ID{PID: pid}, State: State(f[0][0]), Name: string(raw[open+1 : end])}
	for i, dst := range []*int{&p.Parent, &p.Group, &p.Session} {
		if *dst, err = strconv.Atoi(f[1+i]); err != nil {
			return Process{}, err
		}
	}
	if p.Ticks, err = strconv.ParseUint(f[19], 10, 64); err != nil {
		return Process{}, fmt.Errorf("start time: %w", err)
	}
	return p, nil
}

// kernel answers from /proc.
type kernel struct{}

// still returns ErrGone unless p's pid still belongs to p and p is alive. It is called after each read: what was
// read before it is p's.
func still(p Process) error {
	now, err := Inspect(p.ID.PID)
	if err != nil {
		return err
	}
	if now.ID != p.ID || !now.Alive() {
		return ErrGone
	}
	return nil
}

func path(p Process, name string) string { return "/proc/" + strconv.Itoa(p.ID.PID) + "/" + name }

func (kernel) args(p Process) ([]string, error) {
	raw, err := os.ReadFile(path(p, "cmdline"))
	if err != nil {
		return nil, err
	}
	raw = bytes.TrimRight(raw, "\x00")
	if len(raw) == 0 {
		return nil, still(p)
	}
	return strings.Split(string(raw), "\x00"), still(p)
}

func (kernel) dir(p Process) (string, error) {
	dir, err := os.Readlink(path(p, "cwd"))
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(dir, " (deleted)"), still(p)
}

func (kernel) env(p Process, keys []string) (map[string]string, error) {
	raw, err := os.ReadFile(path(p, "environ"))
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for kv := range bytes.SplitSeq(raw, []byte{0}) {
		k, v, ok := bytes.Cut(kv, []byte{'='})
		if ok && slices.Contains(keys, string(k)) {
			out[string(k)] = string(v)
		}
	}
	return out, still(p)
}

func (kernel) openFiles(p Process, match func(string) bool) ([]OpenFile, error) {
	fds, err := os.ReadDir(path(p, "fd"))
	if err != nil {
		return nil, err
	}
	var out []OpenFile
	for _, e := range fds {
		link, err := os.Readlink(path(p, "fd/"+e.Name()))
		if err != nil || !strings.HasPrefix(link, "/") {
			continue
		}
		o := OpenFile{Proc: path(p, "fd/"+e.Name())}
		o.FD, _ = strconv.Atoi(e.Name())
		o.Path, o.Deleted = strings.CutSuffix(link, " (deleted)")
		if !match(o.Path) {
			continue
		}
		info, err := os.ReadFile(path(p, "fdinfo/"+e.Name()))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(info)) {
			k, v, _ := strings.Cut(line, ":")
			switch v = strings.TrimSpace(v); k {
			case "pos":
				o.Offset, _ = strconv.ParseInt(v, 10, 64)
			case "flags":
				n, _ := strconv.ParseUint(v, 8, 64)
				o.Writable = n&unix.O_ACCMODE != unix.O_RDONLY
			case "lock":
				f := strings.Fields(v)
				o.WriteLocked = o.WriteLocked || len(f) > 3 && f[1] == "FLOCK" && f[3] == "WRITE"
			}
		}
		out = append(out, o)
	}
	return out, still(p)
}

func (kernel) listenPorts(p Process) ([]int, error) { return nil, ErrUnsupported }

func (kernel) namespacePIDs(p Process) ([]int, error) {
	raw, err := os.ReadFile(path(p, "status"))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(raw)) {
		if v, ok := strings.CutPrefix(line, "NSpid:"); ok {
			var out []int
			for _, f := range strings.Fields(v) {
				n, err := strconv.Atoi(f)
				if err != nil {
					return nil, err
				}
				out = append(out, n)
			}
			return out, still(p)
		}
	}
	return []int{p.ID.PID}, still(p)
}

func (kernel) pidNamespace(p Process) (string, error) {
	ns, err := os.Readlink(path(p, "ns/pid"))
	if err != nil {
		return "", err
	}
	return ns, still(p)
}
