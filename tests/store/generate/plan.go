package generate

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// plan is what is decided of a session before a byte of it is written. It depends on nothing but the seed, the
// agent and the session's number, so that the order of writing does not matter.
type plan struct {
	*rand.Rand
	index   int
	size    int
	start   time.Time
	ending  ending
	project int
	branch  string
}

// ending is how a session's last turn ends.
type ending int

const (
	completed ending = iota
	interrupted
	failed
	cut // its process was killed: the tail is a tool call without a result
)

// perProject is the average number of sessions in a project directory.
const perProject = 5

func (o Options) plan(agent uint64, i, n int) plan {
	p := plan{Rand: rand.New(rand.NewPCG(o.Seed, agent<<32|uint64(i))), index: i, branch: "main"}
	// The bounds lie two standard deviations from the median.
	sigma := math.Log(float64(o.Max)/float64(o.Median)) / 2
	p.size = int(float64(o.Median) * math.Exp(p.NormFloat64()*sigma))
	p.size = min(max(p.size, o.Min), o.Max)
	const year = 365 * 24 * time.Hour
	// The last hour stays free, so that every record lies before the end.
	p.start = o.End.Add(-time.Duration(p.Int64N(int64(year)))).Add(-time.Hour).Truncate(time.Millisecond)
	if o.Burst > 0 {
		burst := rand.New(rand.NewPCG(o.Seed, agent<<32|uint64(i/o.Burst)|1<<63))
		second := o.End.Add(-time.Duration(burst.Int64N(int64(year)))).Add(-time.Hour).Truncate(time.Second)
		p.start = second.Add(time.Duration(i%o.Burst) * time.Second / time.Duration(o.Burst)).Truncate(time.Millisecond)
	}
	p.project = p.IntN(max(1, n/perProject))
	if i < n/perProject {
		p.project = i // so that none stays empty
	}
	switch k := p.IntN(100); {
	case k >= 94:
		p.ending = cut
	case k >= 88:
		p.ending = failed
	case k >= 80:
		p.ending = interrupted
	}
	if p.IntN(3) == 0 {
		p.branch = fmt.Sprintf("feature/%d", p.IntN(1000))
	}
	return p
}

// inTime are the plans of an agent's sessions, the first one to begin first.
func (o Options) inTime(agent uint64, n int) []plan {
	plans := make([]plan, n)
	for i := range plans {
		plans[i] = o.plan(agent, i, n)
	}
	slices.SortFunc(plans, func(a, b plan) int { return a.start.Compare(b.start) })
	return plans
}

// dir is the working directory of a project.
func (p plan) dir() string { return fmt.Sprintf("/home/dev/src/project-%04d", p.project) }

func (p plan) hex(n int) string {
	const digits = "0123456789abcdef"
	return p.pick(digits, n)
}

func (p plan) pick(alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[p.IntN(len(alphabet))]
	}
	return string(out)
}

// uuid is a random UUID (version 4).
func (p plan) uuid() string { return uuid(p.Uint64(), p.Uint64(), 4) }

// uuid7 is a UUID that begins with the time in milliseconds (version 7).
func (p plan) uuid7(t time.Time) string {
	return uuid(uint64(t.UnixMilli())<<16|p.Uint64N(1<<12), p.Uint64(), 7)
}

func uuid(hi, lo, version uint64) string {
	hi = hi&^0xf000 | version<<12
	lo = lo&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1))
}

// iso is the way all three agents write times.
func iso(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// steps is the least number of tool calls in a turn.
func (p plan) steps(last bool) int {
	if last {
		return 1 // and then as many as the size asks for
	}
	return 1 + p.IntN(4)
}

// lastTurn is how many bytes before a session's size its last turn begins, which then goes on until the size is reached.
const lastTurn = 25_000

// prose is a block of made-up words to cut texts from. It is already escaped for use inside a JSON string.
type prose struct{ block []byte }

func newProse(seed uint64) prose {
	words := []string{
		"the", "parser", "returns", "an", "empty", "slice", "when", "its", "input", "ends", "early", "so", "tests",
		"fail", "at", "line", "42", "because", "every", "caller", "expects", "one", "record", "func", "Decode(b []byte)",
		"error", "{", "}", "if", "err != nil", "src/store/index.go:118:", "cache", "miss", "retry", "with", "a", "larger",
		"buffer", "größer", "日本", "naïve", `\"quoted\"`, `\\n`, "diff --git", "+++", "---", "@@ -1,7 +1,9 @@", "ok",
	}
	r := rand.New(rand.NewPCG(seed, proseStream))
	var block []byte
	for len(block) < 256<<10 {
		block = append(block, words[r.IntN(len(words))]...)
		if r.IntN(12) == 0 {
			block = append(block, `\n`...)
		} else {
			block = append(block, ' ')
		}
	}
	return prose{block}
}

// proseStream tells the prose's stream of random numbers from those of the sessions.
const proseStream = 1 << 63

// text cuts about n bytes at a random place, never within an escape or a character.
func (p prose) text(r *rand.Rand, n int) []byte {
	n = min(n, len(p.block)/2)
	from := r.IntN(len(p.block) - n)
	to := from + n
	return p.block[p.boundary(from):p.boundary(to)]
}

// prompt is a text as agents store what a person typed: without white space around it.
func (p prose) prompt(r *rand.Rand, n int) []byte { return bytes.TrimSpace(p.text(r, n)) }

// instructions are what an agent tells its model in one of two versions: always the same.
func (p prose) instructions(newer bool) []byte {
	const size = 21_000 // as in 0.169
	from := 0
	if newer {
		from = size
	}
	return p.block[p.boundary(from):p.boundary(from+size)]
}

// boundary moves on to the next start of a word.
func (p prose) boundary(i int) int {
	for i > 0 && i < len(p.block) && p.block[i-1] != ' ' {
		i++
	}
	return i
}
