package sandbox

import (
	"net"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if code, ran := Enter(); ran {
		os.Exit(code)
	}
	m.Run()
}

// Inside there is loopback, and it works; there is nothing else.
func TestLoopbackOnly(t *testing.T) {
	list, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		if up := i.Flags&net.FlagUp != 0; Inside() && up != (i.Flags&net.FlagLoopback != 0) {
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
