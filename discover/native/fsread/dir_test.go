package fsread

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestAllEntries: every entry is listed once, of small and large directories, with and without buffers, and while a
// directory below is listed with the same buffers.
func TestAllEntries(t *testing.T) {
	root := t.TempDir()
	want := map[string]bool{}
	for i := range 3000 { // more than one read brings
		name := fmt.Sprintf("%04d", i)
		want[name] = true
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 0 {
			if err := os.WriteFile(filepath.Join(root, name, "below"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range []*Buffers{nil, new(Buffers)} {
		for range 2 { // the second time, the memory is there
			got, below := map[string]bool{}, []string{}
			d, err := OpenDir(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			for n, err := range d.AllEntries(s) {
				if err != nil || !n.IsDir() || got[n.Name()] {
					t.Fatalf("%q: %v, a directory: %t, again: %t", n.Name(), err, n.IsDir(), got[n.Name()])
				}
				got[n.Name()] = true
				for _, name := range namesBelow(t, d, n.Name(), s) {
					below = append(below, n.Name()+"/"+name)
				}
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(got, want) {
				t.Errorf("%d entries, want %d", len(got), len(want))
			}
			if slices.Sort(below); !slices.Equal(below, []string{"0000/below", "1000/below", "2000/below"}) {
				t.Errorf("below: %q", below)
			}
		}
	}
}

func namesBelow(t *testing.T, in *Dir, name string, s *Buffers) (names []string) {
	t.Helper()
	d, err := in.OpenDir(name)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if want := in.Path() + "/" + name; d.Path() != want {
		t.Errorf("path %s, want %s", d.Path(), want)
	}
	for n, err := range d.AllEntries(s) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, n.Name())
	}
	return names
}

// TestOpenDirNotExist: the method returns the same errors as the function OpenDir.
func TestOpenDirNotExist(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink("nowhere", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, name := range []string{"none", "link", "link/below"} {
		_, want := OpenDir(t.Context(), filepath.Join(root, name))
		if _, err := d.OpenDir(name); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
