package sandbox

import (
	"net"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if code, ran := Enter(wanted()); ran {
		os.Exit(code)
	}
	if play := os.Getenv(part); play != "" {
		os.Exit(parts()[play]())
	}
	os.Exit(m.Run())
}

// got is what these tests have for themselves.
func got(s Set) bool {
	_, set := where()
	return set&s != 0
}

// Inside there is loopback, and it works; there is nothing else.
func TestLoopbackOnly(t *testing.T) {
	list, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		if up := i.Flags&net.FlagUp != 0; got(Network) && up != (i.Flags&net.FlagLoopback != 0) {
			t.Errorf("%s: up is %v", i.Name, up)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
}
