package discover

import "testing"

func TestStripContextFiles(t *testing.T) {
	spec, file := FormatContextFile("spec.md", "first\n\nsecond\n"), FormatContextFile("a b.go", "package a")
	for prompt, want := range map[string]string{
		spec + "\n\nmake it so":                      "make it so",
		"\n" + spec + "\n\n" + file + "\n\nmake\nit": "make\nit",
		"make it so":                            "make it so",
		" make it so":                           " make it so",
		spec:                                    spec,
		"--- File: cut ---\nits end is missing": "--- File: cut ---\nits end is missing",
		"see\n" + spec:                          "see\n" + spec,
	} {
		if got := StripContextFiles(prompt); got != want {
			t.Errorf("%q\nis %q\nwant %q", prompt, got, want)
		}
	}
}
