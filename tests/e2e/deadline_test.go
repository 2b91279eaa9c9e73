package e2e_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A step ends by its deadline though its child keeps stdout open, in a kernel session of its own.
func TestStepEndsByItsDeadline(t *testing.T) {
	file := filepath.Join(t.TempDir(), "step.txtar")
	if err := os.WriteFile(file, []byte("exec sh -c 'sleep 1000 & exec setsid sleep 1000'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// Not as a subtest, which would fail.
	if runScript(quiet{t}, testscript.Params{Files: []string{file}}, time.Second) {
		t.Error("the step ended before its deadline")
	}
}

// quiet runs a script of which a failure is expected.
type quiet struct{ *testing.T }

func (q quiet) Parallel()     {}
func (q quiet) Verbose() bool { return false }
func (q quiet) FailNow()      { panic(failed{}) }
func (q quiet) Fatal(...any)  { panic(failed{}) }
func (q quiet) Run(_ string, f func(testscript.T)) {
	defer func() {
		if r := recover(); r != nil && r != any(failed{}) {
			panic(r)
		}
	}()
	f(q)
}

type failed struct{}
