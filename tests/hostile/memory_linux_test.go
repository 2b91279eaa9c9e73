package hostile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"agentctl/tests/must"
	"agentctl/tests/schema"
	"agentctl/tests/trace"
)

// mostMemory is the most memory, in bytes, that a command may have resident, whatever the stores hold.
const mostMemory = 300_000_000

const (
	codexMeta = `{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta","payload":{"id":"%s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/x","originator":"codex_exec","cli_version":"0.169.0","source":"exec"}}` + "\n"
	codexTurn = `{"timestamp":"2026-01-02T03:04:06.000Z","type":"event_msg","payload":{"type":"user_message","message":"do it"}}` + "\n" +
		`{"timestamp":"2026-01-02T03:04:07.000Z","type":"event_msg","payload":{"type":"task_started"}}` + "\n"
	claudePrompt = `{"parentUuid":null,"isSidechain":false,"cwd":"/x","sessionId":"%[1]s","version":"2.1.197","type":"user","message":{"role":"user","content":"%[2]s"},"uuid":"21111111-1111-4111-8111-111111111111","timestamp":"2026-01-02T03:04:05.000Z"}` + "\n"
)

// many, or titled, is how many large files of a kind there are, and filling how many small ones beside them: readers take files in parts of
// sixteen, so that as many read at a time as can only where there are that many parts.
const (
	many    = 20
	titled  = 30
	filling = 16 * 16
)

// A store of files that are as large as they can be, each in its own way, is read below 300 MB.
func TestMemoryIsBounded(t *testing.T) {
	bin := build(t)
	for name, test := range map[string]struct {
		make func(t *testing.T, home string)
		args []string
		exit int
	}{
		"packed rollouts":           {packedRollouts, []string{"list", "-a", "--since", "all", "--tokens", "--json"}, 0},
		"packed bombs":              {packedBombs, []string{"list", "-a", "--since", "all", "--json"}, 6},
		"packed with large windows": {packedWindows, []string{"list", "-a", "--since", "all", "--json"}, 6},
		"long lines":                {longLines, []string{"list", "-a", "--since", "all", "--json"}, 0},
		"long lines, whole":         {longLines, []string{"list", "-a", "--since", "all", "--tokens", "--json"}, 0},
		"long titles":               {longTitles, []string{"list", "-a", "--since", "all", "--json"}, 0},
		"a transcript":              {longLines, []string{"logs", "-n", "0", "--json", claudeID(0)}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			test.make(t, home)
			fill(t, home)
			cmd := exec.Command(bin, test.args...)
			cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "GOMAXPROCS=8"}
			var stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = io.Discard, &stderr
			r, err := trace.Memory(cmd)
			must.Do(t, err)
			t.Logf("%s: %d MB resident", name, r.PeakRSS/1_000_000)
			if r.Exit != test.exit {
				t.Errorf("exit %d, want %d: %.500s", r.Exit, test.exit, stderr.String())
			}
			if r.PeakRSS <= 0 || r.PeakRSS > mostMemory {
				t.Errorf("%d bytes resident, want at most %d, and a measurement", r.PeakRSS, mostMemory)
			}
		})
	}
}

func codexID(i int) string  { return fmt.Sprintf("019b7d6c-1111-7111-8111-%012d", i) }
func claudeID(i int) string { return fmt.Sprintf("11111111-1111-4111-8111-%012d", i) }

// rollouts are compressed files of Codex, each with its first record, then what body writes, then a turn. Body and turn are compressed once,
// as a frame of their own.
func rollouts(t *testing.T, home string, n, window int, body func(io.Writer)) {
	t.Helper()
	packed := func(write func(io.Writer)) string {
		var out strings.Builder
		w, err := zstd.NewWriter(&out, zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
		must.Do(t, err)
		write(w)
		must.Do(t, w.Close())
		return out.String()
	}
	rest := packed(func(w io.Writer) {
		body(w)
		_, _ = io.WriteString(w, codexTurn)
	})
	for i := range n {
		meta := packed(func(w io.Writer) { fmt.Fprintf(w, codexMeta, codexID(i)) })
		store(t, filepath.Join(home, ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-"+codexID(i)+".jsonl.zst"), meta, rest)
	}
}

// fill adds small rollouts and transcripts.
func fill(t *testing.T, home string) {
	t.Helper()
	for i := titled; i < titled+filling; i++ {
		store(t, filepath.Join(home, ".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-"+codexID(i)+".jsonl"), fmt.Sprintf(codexMeta, codexID(i)), codexTurn)
		store(t, filepath.Join(home, ".claude/projects/-x", claudeID(i)+".jsonl"), fmt.Sprintf(claudePrompt, claudeID(i), "do it"))
	}
}

// store writes a file that consists of these parts. The parts are written one by one: to join them would take most of the time of the test.
func store(t *testing.T, path string, parts ...string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.Create(path)
	must.Do(t, err)
	for _, part := range parts {
		_, err := f.WriteString(part)
		must.Do(t, err)
	}
	must.Do(t, f.Close())
}

// repeat writes a text so many times.
func repeat(text string, n int) func(io.Writer) {
	return func(w io.Writer) {
		for range n {
			_, _ = io.WriteString(w, text)
		}
	}
}

// packedRollouts are such as they are, of 60 MB each.
func packedRollouts(t *testing.T, home string) {
	line := `{"timestamp":"2026-01-02T03:04:05.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + strings.Repeat("some words. ", 5000) + `"}]}}` + "\n"
	rollouts(t, home, many, 4<<20, repeat(line, 1000))
}

// packedBombs unpack to one line without an end.
func packedBombs(t *testing.T, home string) {
	rollouts(t, home, many, 8<<20, repeat(strings.Repeat("x", 1<<20), 100))
}

// packedWindows ask their reader to hold 128 MB.
func packedWindows(t *testing.T, home string) {
	rollouts(t, home, many, 128<<20, repeat(strings.Repeat("x", 1<<20), 200))
}

// longLines are transcripts of Claude Code with prompts of 5 MB.
func longLines(t *testing.T, home string) {
	words := strings.Repeat("words of a prompt ", 5<<20/18)
	for i := range many {
		before, after, _ := strings.Cut(fmt.Sprintf(claudePrompt, claudeID(i), "WORDS"), "WORDS")
		n := 1
		if i == 0 {
			n = 40
		}
		var parts []string
		for line := range n { // each is a message of its own
			parts = append(parts, before, words, strings.Replace(after, `"uuid":"21111111`, fmt.Sprintf(`"uuid":"%08d`, line), 1))
		}
		store(t, filepath.Join(home, ".claude/projects/-x", claudeID(i)+".jsonl"), parts...)
	}
}

// longTitles are transcripts whose title, directory and branch have 4 MB each.
func longTitles(t *testing.T, home string) {
	long := strings.Repeat("x", 4<<20)
	for i := range titled {
		before, after, _ := strings.Cut(fmt.Sprintf(claudePrompt, claudeID(i), "do it"), `/x"`)
		store(t, filepath.Join(home, ".claude/projects/-x", claudeID(i)+".jsonl"),
			`{"type":"custom-title","customTitle":"`, long, `","sessionId":"`+claudeID(i)+`"}`+"\n", before, "/", long, `","gitBranch":"`, long, `"`, after)
	}
}

const (
	// deadline is how long a run may take: far more than any does, so that a busy machine is no failure.
	deadline = time.Minute
	// memory is the most that a run gets, in KB. TestMemoryIsBounded measures what it takes.
	memory = "1000000"
)

// run runs agentctl, checks what holds for every run, and returns its stdout.
func (c *trial) run(args ...string) string {
	c.Helper()
	// The shell is replaced by agentctl. What takes much more than it may is ended by the system, before others are.
	cmd := exec.CommandContext(c.Context(), "sh", append([]string{"-c", "ulimit -d " + memory + `; exec "$0" "$@"`, c.agentctl}, args...)...)
	cmd.Dir, cmd.Env = c.home, environment(c.home)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = deadline // its child may hold its output
	check(c.T, cmd.Start())
	hung := time.AfterFunc(deadline, func() { _ = cmd.Process.Signal(quit) })
	_ = cmd.Wait()
	stuck := !hung.Stop()
	line := "agentctl " + strings.Join(args, " ")
	report := errs.String()[:min(errs.Len(), 3000)]
	switch code := cmd.ProcessState.ExitCode(); {
	case stuck:
		c.fail("%s has not ended in time\n%s", line, report)
		return ""
	case !slices.Contains([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 124}, code):
		c.fail("%s: %s\n%s", line, cmd.ProcessState, report)
	case code == 6 && errs.Len() == 0:
		c.fail("%s: exit code 6, and nothing on stderr", line)
	}
	for _, word := range []string{"panic:", "goroutine 1 [", "fatal error:", "runtime error"} {
		if strings.Contains(errs.String(), word) {
			c.fail("%s\n%s", line, report)
		}
	}
	for name, text := range map[string][]byte{"stdout": out.Bytes(), "stderr": errs.Bytes()} {
		if i := acting(text); i >= 0 {
			c.fail("%s: %s has a control sequence: %q", line, name, text[max(0, i-100):min(len(text), i+100)])
		}
	}
	if slices.Contains(args, "--json") {
		if err := errors.Join(valid(args, out.Bytes()), objects(errs.Bytes())); err != nil {
			c.fail("%s: %v", line, err)
		}
	}
	return out.String()
}

// acting is where a character stands on which a terminal acts, -1 if there is none.
func acting(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// valid fails unless each JSON value on stdout is what the schema says.
func valid(args []string, out []byte) error {
	part := map[string]string{
		"list": "sessions", "status": "session", "wait": "session", "search": "session", "peek": "message", "logs": "message", "export": "export", "stop": "stops",
		"usage": "usage", "du": "du", "rm": "managed", "locks": "locks", "doctor": "doctor",
	}[args[0]]
	switch {
	case slices.Contains(args, "--orphans"):
		part = "orphans"
	case slices.Contains(args, "--limits"):
		part = "limits"
	case part == "message" && bytes.HasPrefix(out, []byte("[")):
		part = "messages"
	}
	for values := json.NewDecoder(bytes.NewReader(out)); part != ""; {
		var value json.RawMessage
		if err := values.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := schema.Check(part, string(value)); err != nil {
			return err
		}
	}
	return nil
}

// objects fails unless each line on stderr is a JSON object.
func objects(errs []byte) error {
	for line := range bytes.Lines(errs) {
		var object map[string]any
		if err := json.Unmarshal(line, &object); err != nil {
			return err
		}
	}
	return nil
}
