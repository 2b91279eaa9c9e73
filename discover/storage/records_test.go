package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"agentctl/tests/must"
)

// recordsOf returns what Records visits of a content. What RecordsBackward visits must be the same, and so must what either visits
// of a content that is read in parts.
func recordsOf(t *testing.T, content string) (records []string) {
	t.Helper()
	f := NewMemoryFile("f", []byte(content), openTemp(t, writeTemp(t, nil)).ModTime())
	take := func(to *[]string) func(Line) bool {
		return func(l Line) bool {
			if at := content[l.Offset:]; !strings.HasPrefix(strings.TrimPrefix(at, "\uFEFF"), string(l.Bytes)) {
				t.Fatalf("at offset %d there is no %q", l.Offset, l.Bytes)
			}
			text := strings.TrimRight(string(l.Bytes), "\r")
			if Damaged(l.Bytes) != l.Rest {
				t.Errorf("%.60q: a rest: %v", l.Bytes, l.Rest)
			}
			if l.Rest {
				text = "damaged"
			}
			*to = append(*to, text)
			return true
		}
	}
	var back []string
	if whole, err := f.Records(0, take(&records)); !whole || err != nil {
		t.Fatal(whole, err)
	}
	if whole, err := f.RecordsBackward(0, take(&back)); !whole || err != nil {
		t.Fatal(whole, err)
	}
	if slices.Reverse(back); !slices.Equal(records, back) {
		t.Errorf("forward %.60q, backward %.60q", records[:min(9, len(records))], back[:min(9, len(back))])
	}
	return records
}

func TestRecords(t *testing.T) {
	t.Parallel()
	const a, b, d = `{"type":"a","message":{"content":[{"type":"text","text":"x {"},{"n":1}]}}`, `{ "sessionId" : "1", "type" : "b {\"" }`, "damaged"
	long := `{"timestamp":"1","text":"` + strings.Repeat("long ", 2048) + `","payload":{"type":"x"}}`
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"nothing":                     {"", nil},
		"blank lines":                 {"\n \n\r\n" + a + "\n\n", []string{a}},
		"a byte order mark":           {"\uFEFF" + a + "\r\n" + b + "\r\n", []string{a, b}},
		"two marked files":            {"\uFEFF" + a + "\n\uFEFF" + b + "\n", []string{a, b}},
		"records on one line":         {a + b + a + "\n" + b + " \t" + a + "\n", []string{a, b, a, b, a}},
		"long records on one line":    {long + long + a + "\n", []string{long, long, a}},
		"no line break at the end":    {a + "\n" + b, []string{a, b}},
		"only a record":               {"\uFEFF" + a, []string{a}},
		"an unfinished last record":   {a + "\n" + b[:20], []string{a}},
		"a record cut off":            {a[:20] + "\n" + b + "\n", []string{d, b}},
		"cut off between two":         {a + b[:9] + a + "\n" + b + "\n", []string{a, d, a, b}},
		"cut off at the end":          {a + b[:9] + "\n" + b + "\n", []string{a, d, b}},
		"two cut off":                 {a[:30] + b[:9] + b + a[:40] + "\n", []string{d, b, d}},
		"zeros before a record":       {"\x00\x00\x00" + a + "\n", []string{d, a}},
		"zeros after a record":        {a + "\x00\x00\n" + b + "\n", []string{a, d, b}},
		"zeros in a record":           {a[:9] + "\x00\x00" + a[9:] + "\n" + b + "\n", []string{d, b}},
		"zeros over the end of one":   {long[:2000] + "\x00\x00" + a + "\n", []string{d, a}},
		"a line of zeros":             {a + "\n\x00\x00\x00\n" + b + "\n", []string{a, d, b}},
		"other values":                {"null\n[1]\n\"x\"\n" + a + "\n", []string{a}},
		"words":                       {"killed\n" + a + "killed\n", []string{d, a, d}},
		"a record in a text":          {`{"text":"{\"type\":\"a\"}{\"type\":\"b\"}"}` + "\n", []string{`{"text":"{\"type\":\"a\"}{\"type\":\"b\"}"}`}},
		"braces that open nothing":    {strings.Repeat(`{"`, 100_000) + "\n" + a + "\n", []string{d, a}},
		"more records than are taken": {strings.Repeat(`{"a":1}`, maxParts+5) + "\n", append(slices.Repeat([]string{`{"a":1}`}, maxParts), d)},
	} {
		if got := recordsOf(t, c.content); !slices.Equal(got, c.want) {
			t.Errorf("%s: %.60q, want %.60q", name, got[:min(9, len(got))], c.want[:min(9, len(c.want))])
		}
	}
}

// TestRecordsCutAnywhere: wherever a record is cut off, the record that follows on its line is read, and no other one is.
func TestRecordsCutAnywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it runs in one goroutine, so the race detector finds nothing in it")
	}
	t.Parallel()
	whole := `{"parentUuid":"p","message":{"role":"assistant","content":[{"type":"text","text":"see: {\"a\": [1]}"}]},"type":"assistant"}`
	for _, cut := range []string{
		`{"parentUuid":null,"message":{"content":[{"type":"tool_use","input":{"old":"f() {","new":"f() {\n\t\"x\"}","n":[{},{"k":{"l":1}}]}}]},"uuid":"u"}`,
		`{ "type": "mode", "list": [ { "a": "b, {" }, { "c": [ ] } ] }`,
		fmt.Sprintf(`{"parentUuid":"q","toolUseResult":{"stdout":"%s {","list":[{"a":"\\\"{"}]},"type":"user"}`, strings.Repeat("x{ ", 2048)),
	} {
		for n := 1; n < len(cut); n++ {
			got := recordsOf(t, cut[:n]+whole+"\n")
			if got = slices.DeleteFunc(got, func(r string) bool { return !strings.Contains(r, "parentUuid") }); !slices.Equal(got, []string{whole}) {
				t.Fatalf("cut off after %q: %q", cut[max(0, n-30):n], got)
			}
		}
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	f := NewMemoryFile("f", []byte(strings.Repeat("0123456789\n", 50_000)), openTemp(t, writeTemp(t, nil)).ModTime())
	for offset, want := range map[int64]string{0: "line 1", 10: "line 1", 11: "line 2", 11 * 40_000: "line 40001"} {
		if got := f.Place(offset); got != want {
			t.Errorf("offset %d: %s, want %s", offset, got, want)
		}
	}
	f.counted = maxCounted
	if got := f.Place(500_000); got != "byte 500000" {
		t.Error(got)
	}
}

func TestReadParallelYieldsEveryItemOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, n := range []int{0, 1, 15, 16, 17, 1000} {
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		seen, faults := map[int]int{}, 0
		for v, err := range ReadParallel(t.Context(), items, func(_ context.Context, i int, v *int) (bool, error) {
			if i%10 == 3 {
				return false, errors.New("fault")
			}
			*v += i // it was zero
			return i%10 != 4, nil
		}) {
			if err != nil {
				faults++
				continue
			}
			seen[*v]++
		}
		for i := range n {
			if want := map[bool]int{true: 0, false: 1}[i%10 == 3 || i%10 == 4]; seen[i] != want {
				t.Fatalf("of %d: item %d given %d times, want %d", n, i, seen[i], want)
			}
		}
		if want := (n + 6) / 10; faults != want {
			t.Errorf("of %d: %d faults, want %d", n, faults, want)
		}
	}
}

func TestReadParallelLeavesNoGoroutine(t *testing.T) {
	defer goleak.VerifyNone(t)
	items := make([]int, 1000)
	read := func(context.Context, int, *int) (bool, error) { return true, nil }
	for _, err := range ReadParallel(t.Context(), items, read) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range ReadParallel(ctx, items, read) {
		if err != nil {
			t.Error(err)
		}
		cancel()
	}
}

func writeTemp(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, os.WriteFile(path, data, 0o600))
	return path
}

func openTemp(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(t.Context(), path)
	must.Do(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// terminated returns the lines of data that end in a newline: the reference for the readers.
func terminated(data []byte) []string {
	end := bytes.LastIndexByte(data, '\n')
	if end < 0 {
		return nil
	}
	return strings.Split(string(data[:end]), "\n")
}

func collect(t testing.TB, data []byte, read func(func(Line) bool) (bool, error)) []string {
	t.Helper()
	var out []string
	whole, err := read(func(l Line) bool {
		if l.Cut {
			return true
		}
		if got := data[l.Offset : int(l.Offset)+len(l.Bytes)]; !bytes.Equal(got, l.Bytes) {
			t.Fatalf("at offset %d there is %q, not %q", l.Offset, got, l.Bytes)
		}
		out = append(out, string(l.Bytes))
		return true
	})
	if err != nil || !whole {
		t.Fatalf("whole %v, %v", whole, err)
	}
	return out
}

func checkLines(t testing.TB, data []byte) {
	t.Helper()
	f := openTemp(t, writeTemp(t, data))
	want := terminated(data)
	got := collect(t, data, func(v func(Line) bool) (bool, error) { return f.Forward(0, v) })
	if !slices.Equal(got, want) {
		t.Fatalf("forward: %d lines, want %d", len(got), len(want))
	}
	got = collect(t, data, func(v func(Line) bool) (bool, error) { return f.Backward(0, v) })
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Fatalf("backward: %d lines, want %d", len(got), len(want))
	}
}

func TestLinesAreThoseOfTheFile(t *testing.T) {
	long := strings.Repeat("x", 3*maxChunk)
	for _, data := range []string{
		"", "\n", "a", "a\n", "a\nb", "\n\n", "a\n\nb\n", long, long + "\n", long + "\n" + long + "\nshort\n", "short\n" + long,
		strings.Repeat("line\n", 50_000), strings.Repeat("x", firstChunk-1) + "\n", strings.Repeat("x", firstChunk) + "\ny\n",
	} {
		checkLines(t, []byte(data))
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n{}\n{"), 3)
	f.Add([]byte("\n\n"), 20_000)
	f.Fuzz(func(t *testing.T, data []byte, times int) {
		checkLines(t, bytes.Repeat(data, max(1, min(times, 1<<16/(len(data)+1)))))
	})
}

func TestGiantLinesAreTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "giant")
	w, err := os.Create(path)
	must.Do(t, err)
	defer w.Close()
	const hole = 3 * MaxLine
	for _, part := range []struct {
		at   int64
		text string
	}{{0, "first\n"}, {hole, "\nlast\n"}} {
		if _, err := w.WriteAt([]byte(part.text), part.at); err != nil {
			t.Fatal(err)
		}
	}
	f := openTemp(t, path)
	for name, read := range map[string]func(func(Line) bool) (bool, error){
		"forward":  func(v func(Line) bool) (bool, error) { return f.Forward(0, v) },
		"backward": func(v func(Line) bool) (bool, error) { return f.Backward(0, v) },
	} {
		var got []string
		whole, err := read(func(l Line) bool {
			if l.Cut {
				if len(l.Bytes) > MaxLine {
					t.Errorf("%s holds %d bytes", name, len(l.Bytes))
				}
				got = append(got, "cut")
			} else {
				got = append(got, string(l.Bytes))
			}
			return true
		})
		if name == "backward" {
			slices.Reverse(got)
		}
		if err != nil || !whole || !slices.Equal(got, []string{"first", "cut", "last"}) {
			t.Errorf("%s: %q, %v, %v", name, got, whole, err)
		}
	}
}

// TestReadComplete: a file that was just written in place is read until it is complete; one that was left incomplete is
// read once.
func TestReadComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.json")
	const content = `{"whole": true}`
	write := func(content string, changed time.Time) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(content), 0o600))
		must.Do(t, os.Chtimes(path, changed, changed))
	}
	isWhole := json.Valid

	// The writer has emptied the file; it goes on while the file is looked at.
	for _, changed := range []time.Time{time.Now(), time.Now().Add(-time.Minute), time.Now().Add(time.Minute)} {
		looks := 0
		write("", changed)
		data, err := readComplete(t.Context(), path, 100, time.Hour, func(data []byte) bool {
			looks++
			write(content[:min(len(content), 5*looks)], changed)
			return isWhole(data)
		})
		if err != nil || string(data) != content || looks != 4 {
			t.Errorf("%q, %v after %d looks, want 4", data, err, looks)
		}
	}

	// Left so by a writer that died: one look, and the caller gets what is there.
	for _, torn := range []string{"", content[:7]} {
		for _, changed := range []time.Time{time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} {
			looks := 0
			write(torn, changed)
			data, err := ReadComplete(t.Context(), path, 100, func(data []byte) bool { looks++; return isWhole(data) })
			if err != nil || string(data) != torn || looks != 1 {
				t.Errorf("%q, %v after %d looks, want 1", data, err, looks)
			}
		}
	}

	// One that is torn for good, but just now, is given back as well; one that goes away is absent.
	write(content[:7], time.Now())
	if data, err := ReadComplete(t.Context(), path, 100, isWhole); err != nil || string(data) != content[:7] {
		t.Errorf("%q, %v", data, err)
	}
	write("", time.Now())
	_, err := readComplete(t.Context(), path, 100, time.Hour, func([]byte) bool { _ = os.Remove(path); return false })
	if !IsNotExist(err) {
		t.Errorf("%v, want absent", err)
	}
}
