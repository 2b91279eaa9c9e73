package render_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/tests/must"
)

func text(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	if err := render.JSON(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Unknown facts are absent. The ID of an unidentified session is null.
func TestJSONOmitsUnknownFacts(t *testing.T) {
	for want, s := range map[string]discover.Session{
		`{"id":"88d1d394-0000-4000-8000-000000000000","adapter":"claude-code","status":"stopped","outcome":"completed","lastActivityAt":"2026-11-18T11:00:00.000Z","stoppedAt":"2026-11-18T11:00:00.000Z","meta":{}}`: stoppedSession(),
		`{"id":null,"adapter":"opencode","status":"unknown","pid":99,"evidence":{"strength":"none","kind":"process","detail":"open files: permission denied"},"meta":{}}`:                                             unidentifiedSession(),
	} {
		var b bytes.Buffer
		if err := render.JSONLine(&b, object.NewSession(s)); err != nil || b.String() != want+"\n" {
			t.Errorf("%v\n%s, want\n%s", err, b.String(), want)
		}
	}
}

// A session of unknown status shows the rejected evidence; other sessions do not.
func TestEvidenceOfUnknownStatus(t *testing.T) {
	s := stoppedSession()
	s.Evidence = []discover.Evidence{{Claim: discover.Claim{Strength: discover.Weak, Kind: "cwd", Detail: "/w"}, Why: "ambiguous"}}
	if e := object.NewSession(s).Evidence; e != nil {
		t.Errorf("a stopped session rests on %+v", e)
	}
	s.Status, s.Outcome = discover.Unknown, ""
	if e := object.NewSession(s).Evidence; e == nil || e.Detail != "/w (ambiguous)" {
		t.Errorf("an unknown session rests on %+v", e)
	}
}

func TestJSONAcceptsAnyFacts(t *testing.T) {
	s := completeSession()
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		s.Cost = &v
		if object.NewSession(s).Cost != nil {
			t.Errorf("cost %v is printed", v)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(1<<40, 0), time.Unix(-1<<40, 0)} {
		if got := object.Timestamp(at); got != "" {
			t.Errorf("Stamp(%v) = %s", at, got)
		}
	}
	if got := object.Timestamp(now.Add(1500 * time.Microsecond).In(time.FixedZone("", 3600))); got != "2026-11-20T12:00:00.001Z" {
		t.Error(got)
	}
}

func TestJSONArray(t *testing.T) {
	for want, values := range map[string][]int{"[]\n": nil, "[\n1\n]\n": {1}, "[\n1,\n2\n]\n": {1, 2}} {
		var b bytes.Buffer
		if err := render.JSONArray(&b, values); err != nil || b.String() != want {
			t.Errorf("%v: %q, %v", values, b.String(), err)
		}
	}
}

// closedPipe fails after a number of writes, as a pipe does whose reader has closed it.
type closedPipe struct{ after int }

func (c *closedPipe) Write(p []byte) (int, error) {
	if c.after--; c.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestJSONArrayStopsOnWriteError(t *testing.T) {
	var sessions []object.Session
	for _, s := range manySessions() {
		sessions = append(sessions, object.NewSession(s))
	}
	for after := range 5 {
		if err := render.JSONArray(&closedPipe{after}, sessions); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after %d writes: %v", after, err)
		}
	}
}

// JSON of any text is valid, keeps the text, and contains nothing that a terminal interprets.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{"", "a", "\x1b[31m", "\u009b31m", "\u202e\u2066", "\x7f", "\xff", "\U000e0041", "\u2028", `"\`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := discover.Session{Record: &discover.Record{ID: s, Title: s, Meta: discover.Facts{s: s}}}
		out := text(t, object.NewSession(r))
		if h := unsafeReason(strings.Map(dropLayout, out)); h != "" {
			t.Errorf("%q: %s", out, h)
		}
		var got struct {
			Title string
			Meta  map[string]string
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		valid := string([]rune(s)) // each invalid byte is one U+FFFD
		if got.Title != valid || !reflect.DeepEqual(got.Meta, map[string]string{valid: valid}) {
			t.Errorf("%q came back as %q", s, got)
		}
	})
}

func dropLayout(r rune) rune {
	if r == '\n' {
		return -1
	}
	return r
}

// manySessions returns sessions as a heavy user has after some years.
func manySessions() []discover.Session {
	list := make([]discover.Session, 1000)
	for i := range list {
		list[i] = completeSession()
		list[i].ID = fmt.Sprintf("%08x-c285-7d91-bd0a-842a7d8b5424", i*7919)
	}
	return list
}

// The parser of Prometheus reads back names, labels and values, whatever the labels contain.
func TestExposition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := object.Metric{
			Name: "agentctl_things_total", Help: rapid.String().Draw(t, "help"), Counter: rapid.Bool().Draw(t, "counter"),
		}
		values := rapid.SliceOfNDistinct(rapid.String(), 1, 5, render.Sanitize).Draw(t, "values")
		for i, value := range values {
			m.Add(float64(i)*math.Pi, "a", value, "b", "x")
		}
		var out bytes.Buffer
		must.Do(t, render.Exposition(&out, []object.Metric{m}))
		parser := expfmt.NewTextParser(model.UTF8Validation)
		got, err := parser.TextToMetricFamilies(bytes.NewReader(out.Bytes()))
		if err != nil || len(got) != 1 {
			t.Fatalf("%d families, %v:\n%s", len(got), err, out.String())
		}
		family := got[m.Name]
		if want := map[bool]dto.MetricType{true: dto.MetricType_COUNTER, false: dto.MetricType_GAUGE}[m.Counter]; family.GetType() != want {
			t.Errorf("it is a %s", family.GetType())
		}
		if len(family.GetMetric()) != len(values) {
			t.Fatalf("%d samples of %d", len(family.GetMetric()), len(values))
		}
		for i, sample := range family.GetMetric() {
			label := sample.GetLabel()[0].GetValue()
			if want := render.Sanitize(values[i]); label != want {
				t.Errorf("label %q, want %q", label, want)
			}
			if n := sample.GetCounter().GetValue() + sample.GetGauge().GetValue(); n != float64(i)*math.Pi {
				t.Errorf("value %v", n)
			}
		}
	})
}

// Texts are escaped by the format, and sanitized.
func TestExpositionEscapes(t *testing.T) {
	m := object.Metric{Name: "m", Help: "one\\two\nthree"}
	m.Add(1234567890, "l", "a\"b\\c\nd\x1b[2Je")
	var out bytes.Buffer
	must.Do(t, render.Exposition(&out, []object.Metric{m}))
	lines := slices.Collect(strings.Lines(out.String()))
	want := []string{"# HELP m one\\\\two three\n", "# TYPE m gauge\n", "m{l=\"a\\\"b\\\\c de\"} 1234567890\n"}
	if !slices.Equal(lines, want) {
		t.Errorf("%q", lines)
	}
}
