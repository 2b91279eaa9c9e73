package host

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// serveOnce returns what Serve answers to a request.
func serveOnce(t *testing.T, r Request, run func(context.Context, Request, io.Writer, io.Writer) int) []byte {
	t.Helper()
	in, caller := io.Pipe()
	go func() { _ = send(caller, r) }() // stdin stays open
	var out bytes.Buffer
	if err := Serve(t.Context(), "", in, &out, Hello{Schema: "s"}, run); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// What a command prints arrives unchanged and in order, with its exit code; arguments and input hold anything.
func TestServe(t *testing.T) {
	want := Request{Schema: "s", Args: []string{"list", "--", "a b", "$(x)", "'\"\\\n!", "\xff\x00"}, Stdin: []byte("in\x00\n")}
	long := strings.Repeat("0123456789", 20_000)
	answer := serveOnce(t, want, func(_ context.Context, got Request, stdout, stderr io.Writer) int {
		if !slices.Equal(got.Args[:5], want.Args[:5]) || !bytes.Equal(got.Stdin, want.Stdin) {
			t.Errorf("%q", got)
		}
		_, _ = io.WriteString(stdout, long)
		_, _ = io.WriteString(stderr, "e")
		return 8
	})
	text := "banner m\nm\n" + string(answer)
	var stdout, stderr bytes.Buffer
	a, err := receive(bufio.NewReader(strings.NewReader(text)), "m", "s", Output{&stdout, &stderr}, func() {})
	if err != nil || a.Code != 8 || stdout.String() != long || stderr.String() != "e" {
		t.Errorf("%+v, %v, %d bytes, %q", a, err, stdout.Len(), stderr.String())
	}
	// Without its last frame an answer is cut, wherever that is.
	for end := strings.Index(text, "o "); end < len(text); end += 1000 {
		cut := (*CutError)(nil)
		if _, err := receive(bufio.NewReader(strings.NewReader(text[:end])), "m", "s", Output{io.Discard, io.Discard}, func() {}); !errors.As(err, &cut) {
			t.Fatalf("cut at %d: %v", end, err)
		}
	}
}

// A request arrives by the command line as it does by stdin, unless it has input or is long. What is no request runs nothing.
func TestRequestInCommandLine(t *testing.T) {
	want := Request{Schema: "s", Args: []string{"search", "--", "it's $(x) `y` \\ ! \n"}}
	var got Request
	in, caller := io.Pipe()
	defer caller.Close() // stdin stays open
	run := func(_ context.Context, r Request, _, _ io.Writer) int { got = r; return 0 }
	if err := Serve(t.Context(), want.word(), in, io.Discard, Hello{Schema: "s"}, run); err != nil || !slices.Equal(got.Args, want.Args) {
		t.Errorf("%q, %v", got, err)
	}
	for _, r := range []Request{{Args: []string{"send"}, Stdin: []byte("a prompt")}, {Args: []string{strings.Repeat("x", maxWord)}}} {
		if r.word() != "" {
			t.Errorf("%.40q goes by the command line", r)
		}
	}
	for _, bad := range []string{"'", "e30=", "bm8gSlNPTg"} {
		if err := Serve(t.Context(), bad, in, io.Discard, Hello{Schema: "s"}, func(context.Context, Request, io.Writer, io.Writer) int {
			t.Errorf("%q is run", bad)
			return 0
		}); err == nil {
			t.Errorf("%q is a request", bad)
		}
	}
}

// A request for another contract runs nothing.
func TestServeOtherContract(t *testing.T) {
	answer := serveOnce(t, Request{Schema: "other"}, func(context.Context, Request, io.Writer, io.Writer) int {
		t.Error("it was run")
		return 0
	})
	_, err := receive(bufio.NewReader(strings.NewReader("m\n"+string(answer))), "m", "other", Output{}, func() {})
	if version := (*VersionError)(nil); !errors.As(err, &version) || version.Hello.Schema != "s" {
		t.Error(err)
	}
}

// The end of stdin ends the command.
func TestServeEndsWithStdin(t *testing.T) {
	var request, out bytes.Buffer
	if err := send(&request, Request{Schema: "s"}); err != nil {
		t.Fatal(err)
	}
	err := Serve(t.Context(), "", &request, &out, Hello{Schema: "s"}, func(ctx context.Context, _ Request, _, _ io.Writer) int {
		<-ctx.Done()
		return 130
	})
	if err != nil || !strings.HasSuffix(out.String(), "x 3\n130") {
		t.Errorf("%v, %q", err, out.String())
	}
}

// Whatever arrives is an answer or an error.
func FuzzReceive(f *testing.F) {
	f.Add([]byte("m\nh 14\n{\"schema\":\"s\"}o 2\nhix 1\n0"))
	f.Add([]byte("m Linux x86_64\n"))
	f.Add([]byte("m\nh 99999999999\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var out bytes.Buffer
		a, err := receive(bufio.NewReader(bytes.NewReader(text)), "m", "s", Output{&out, &out}, func() {})
		if out.Len() > len(text) || err != nil && a.Code != 0 {
			t.Errorf("%+v, %v, %d bytes", a, err, out.Len())
		}
	})
}

// The names of hosts hold nothing that ssh, a shell or an ID takes for its own.
func TestNames(t *testing.T) {
	for arg, want := range map[string]string{
		"devbox:abc": "devbox", "ana@h.example:pid:7": "ana@h.example", "local:x": "local", "pid:7": "", "abc": "", "abc@/a:b": "", "-x:abc": "", "h:": "",
		"a b:x": "", "$(x):y": "", "a;b:x": "", ":x": "",
	} {
		if name, _, ok := SplitID(arg); name != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", arg, name, ok)
		}
	}
	for _, bad := range []string{"", "-oProxyCommand=x", "a b", "ssh://-x", "a'b", "a\nb"} {
		if CheckDestination(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	// One pair of single quotes, and nothing that a shell reads within: what sh, bash, zsh, fish and csh take alike.
	command := remoteCommand(newMarker(), Request{Args: []string{"'\\\n!"}}.word())
	if strings.Count(command, "'") != 2 || strings.ContainsAny(command, "\\\n!") {
		t.Error(command)
	}
}
