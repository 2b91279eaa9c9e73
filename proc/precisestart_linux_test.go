package proc

import (
	"os/exec"
	"testing"
	"time"
)

// TestPreciseStart: a process starts between the moments before and after its start by another process; Started may be a
// second off.
func TestPreciseStart(t *testing.T) {
	const tick = time.Second / clockTicks
	for range 20 {
		earliest := time.Now()
		cmd := exec.Command("sleep", "1000")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		latest := time.Now()
		p, err := Inspect(cmd.Process.Pid)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if err != nil {
			t.Fatal(err)
		}
		if b := p.PreciseStart(); b.Before(earliest.Add(-time.Second)) || b.After(latest.Add(tick)) { // early, if anything
			t.Errorf("begun %s, started between %s and %s", b, earliest, latest)
		}
		if !p.StartedBefore(latest) || p.StartedBefore(earliest.Add(-2*time.Second)) {
			t.Errorf("begun %s: before %s %v, two seconds earlier %v", p.PreciseStart(), latest, p.StartedBefore(latest), p.StartedBefore(earliest.Add(-2*time.Second)))
		}
	}
}
