package claudecode

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"agentctl/discover"
	"agentctl/discover/native"
)

// Of what is put for one message and request, the last counts, however they are mixed and spelt; what was cleared is gone.
func TestCallsAreAMap(t *testing.T) {
	var c calls
	names := []native.Value{nil, native.Value(`null,`), native.Value(`"cut`), native.Value(`""`), native.Value(`"a\u0000"`), native.Value(`"\u0061"`)}
	for i := range 900 {
		names = append(names, native.Value(fmt.Appendf(nil, `"%c%d",`, 'a'+i%2, i/2)), native.Value(fmt.Appendf(nil, `"\u0061%d"`, i)))
	}
	for round := range 3 {
		random := rand.New(rand.NewPCG(1, uint64(round)))
		want := map[call]int64{}
		for n := range int64(9000) {
			id, request := names[random.IntN(len(names))], names[random.IntN(10)]
			for range random.IntN(3) {
				c.put(id, request, usage{In: n}, nil)
				want[call{id.Text(0), request.Text(0)}] = n
			}
		}
		if len(c.list) != len(want) {
			t.Fatalf("%d calls, want %d", len(c.list), len(want))
		}
		for _, s := range c.list {
			name := call{string(c.names[s.message:s.request]), string(c.names[s.request:s.end])}
			if used, ok := want[name]; !ok || used != s.In {
				t.Fatalf("%q used %d, want %d", name, s.In, used)
			}
		}
		c.clear()
	}
}

// Calls beyond the bound leave the session's tokens unknown, with a warning; what is known is still replaced.
func TestCallsAreBounded(t *testing.T) {
	c := calls{most: 2}
	for i, id := range []string{`"a"`, `"b"`, `"a"`, `"b"`} {
		c.put(native.Value(id), nil, usage{In: int64(i)}, nil)
	}
	if len(c.list) != 2 || c.full || c.list[0].In != 2 {
		t.Fatalf("%d calls, full %v", len(c.list), c.full)
	}
	c.put(native.Value(`"c"`), nil, usage{In: 9}, nil)
	var r discover.Record
	path, err := (&totals{side: true, ledger: ledger{calls: &c}}).add(&r, discover.Want{}, nil, nil)
	if len(c.list) != 2 || !errors.Is(err, errManyCalls) || path != r.Path || r.Tokens != nil {
		t.Errorf("%d calls, %v, tokens %v", len(c.list), err, r.Tokens)
	}
	if c.clear(); c.full {
		t.Error("full after clear")
	}
}

func TestMomentIsTheTime(t *testing.T) {
	var m moment
	for _, text := range []string{
		`"2026-11-20T19:09:28.087Z"`, `"2026-11-20T19:09:28.087Z",`, `"2026-11-20T19:09:28Z"`, `"2026-11-20T20:09:28.087+01:00"`,
		`"2026-11-20T19:09:28.087Z`, `"2026-13-20T19:09:28.087Z"`, `null,"timestamp":"201234567Z"`, `""`, ``, `"2026-11-20T19:09:28.123456Z"`,
	} {
		m.set(native.Value(text))
		if got, want := m.get(), native.Value(text).Time(); !got.Equal(want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
