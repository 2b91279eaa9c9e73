// Package must ends a test whose preparations fail.
package must

// T is the test, or one of its random inputs.
type T interface {
	Helper()
	Fatal(args ...any)
}

// Do ends the test if there is an error.
func Do(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
