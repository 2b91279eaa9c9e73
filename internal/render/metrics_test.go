package render_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"pgregory.net/rapid"

	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/tests/must"
)

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
		must.Do(t, render.Exposition(&out, []object.Metric{m, {Name: "agentctl_none", Help: "It has no samples."}}))
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
