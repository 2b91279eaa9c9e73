package main

import (
	"strings"
	"testing"
	"time"
)

func TestGrowthIsTold(t *testing.T) {
	s := series{size: "sessions", sizes: []int{10, 1000}, jobs: [][]*job{
		{made(listAll, 10, 3, 100, 1e6), made(live, 10, 2, 50, 1e6)},
		{made(listAll, 1000, 300, 1000, 1e6), made(live, 1000, 2, 50, 1e6)},
	}}
	var out strings.Builder
	if err := s.print(&out); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(rows) != 5 {
		t.Fatalf("%d rows:\n%s", len(rows), out.String())
	}
	for row, want := range map[int][]string{2: {"1000", "300.00", "1.00", "1000", "0.50"}, 4: {"1000", "2.00", "0.00", "50", "0.00"}} {
		if got := strings.Fields(rows[row]); strings.Join(got[:len(want)], " ") != strings.Join(want, " ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The bar is of the largest store, and of find as it ran beside.
func TestGrowthHasABar(t *testing.T) {
	s := series{size: "sessions", sizes: []int{10, 1000}, jobs: [][]*job{
		{made(findTree, 10, 1, 50, 1e6), made(week, 10, 9, 50, 1e6)},
		{made(findTree, 1000, 1, 50, 1e6), made(week, 1000, 14, 50, 1e6)},
	}}
	list := s.jobs[1][1]
	list.yardstick, list.beside = findTree, []time.Duration{10e6, 10e6, 10e6}
	if b := s.bars(); len(b) != 1 || b[0].measured != 1.4 || !b[0].met() {
		t.Errorf("%+v", b)
	}
	list.beside = []time.Duration{9e6, 9e6, 9e6}
	if b := s.bars(); len(b) != 1 || b[0].met() {
		t.Errorf("%+v", b)
	}
}
