package codex

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// webSocket is a WebSocket (RFC 6455) to a server on a Unix socket. The daemon speaks it, and `codex app-server proxy` passes it on
// unchanged (SEEN 0.169). A library would add net's DNS resolver and net/http's TLS to the program.
type webSocket struct {
	conn         *os.File
	in           *bufio.Reader
	stopDeadline func() bool // detaches the connection from its context
}

// maxMessage is the most bytes of a message. The daemon splits its own messages above this size (SEEN 0.169).
const maxMessage = 16 << 20

var (
	errFrame          = errors.New("no WebSocket frame as a server sends them")
	errMessageTooLong = errors.New("a message is longer than is read")
)

// dial connects to a server. The socket works until ctx ends. dial sends nothing to another process that listens on the path. It
// resolves the path, because Codex puts a link in the home where socket names, some hundred bytes, are too short for the path.
func dial(ctx context.Context, path string, server proc.Process) (*webSocket, error) {
	conn, err := native.Dial(ctx, path, &unix.SockaddrUnix{Name: discover.RealPath(path)})
	if err != nil {
		return nil, &os.PathError{Op: "connect to", Path: path, Err: err}
	}
	s := &webSocket{conn, bufio.NewReader(conn), context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })}
	if err = server.VerifyPeer(ctx, conn); err == nil {
		err = s.upgrade()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// upgrade requests a WebSocket. It does not verify Sec-WebSocket-Accept: no proxy is between.
func (s *webSocket) upgrade() error {
	const request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: YWdlbnRjdGwgYWdlbnRjdA==\r\n\r\n"
	if _, err := io.WriteString(s.conn, request); err != nil {
		return err
	}
	status, err := s.headerLine()
	for n, line := 0, status; err == nil && line != ""; n++ {
		if line, err = s.headerLine(); n == maxHeaderLines {
			err = errMessageTooLong
		}
	}
	if err == nil && !strings.HasPrefix(status, "HTTP/1.1 101 ") {
		err = fmt.Errorf("not the daemon's socket: it answers %q", status)
	}
	return err
}

// maxHeaderLines is the most lines of a response header. Each has at most as many bytes as the reader's buffer.
const maxHeaderLines = 100

// headerLine reads a line of the response header. Error: [errMessageTooLong] if it does not end.
func (s *webSocket) headerLine() (string, error) {
	line, err := s.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		err = errMessageTooLong
	}
	return strings.TrimSpace(string(line)), err
}

func (s *webSocket) close() {
	s.stopDeadline()
	_ = s.conn.Close() // all has been read and written
}

// The opcodes of frames.
const (
	opContinuation = 0
	opText         = 1
	opClose        = 8
	opPing         = 9
	opPong         = 10
)

// sendMessage implements [rpcConn]: one message of the protocol is one message of the WebSocket (SEEN 0.169).
func (s *webSocket) sendMessage(message []byte) error { return s.send(opText, message) }

// send sends a message in one frame. A client masks its frames (section 5.3).
func (s *webSocket) send(kind byte, message []byte) error {
	const final, masked = 0x80, 0x80
	frame := []byte{final | kind}
	switch n := len(message); {
	case n < 126:
		frame = append(frame, masked|byte(n))
	case n <= 0xffff:
		frame = binary.BigEndian.AppendUint16(append(frame, masked|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, masked|127), uint64(n))
	}
	var mask [4]byte
	_, _ = rand.Read(mask[:]) // never fails
	frame = append(frame, mask[:]...)
	for i, b := range message {
		frame = append(frame, b^mask[i%len(mask)])
	}
	_, err := s.conn.Write(frame)
	return err
}

// receive returns the next message. Error: [io.EOF] once the server has closed the connection.
func (s *webSocket) receive() ([]byte, error) {
	var message []byte
	for {
		f, err := readFrame(s.in, maxMessage-len(message))
		if err != nil {
			return nil, err
		}
		switch f.kind {
		case opText, opContinuation:
			if message = append(message, f.payload...); f.final {
				return message, nil
			}
		case opPing:
			if err := s.send(opPong, f.payload); err != nil {
				return nil, err
			}
		case opClose:
			return nil, io.EOF
		}
	}
}

type frame struct {
	final   bool
	kind    byte
	payload []byte
}

// readFrame reads a frame of a server, with a payload of at most limit bytes.
func readFrame(r io.Reader, limit int) (frame, error) {
	var head [2]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	f := frame{final: head[0]&0x80 != 0, kind: head[0] & 0x0f}
	if head[0]&0x70 != 0 || head[1]&0x80 != 0 || f.kind >= opClose && (!f.final || head[1] > 125) {
		return frame{}, errFrame
	}
	size := uint64(head[1])
	if more := map[byte]int{126: 2, 127: 8}[head[1]]; more > 0 {
		var long [8]byte
		if _, err := io.ReadFull(r, long[8-more:]); err != nil {
			return frame{}, unexpectedEOF(err)
		}
		size = binary.BigEndian.Uint64(long[:])
	}
	if limit < 0 || size > uint64(limit) {
		return frame{}, errMessageTooLong
	}
	// Memory grows with the bytes that arrive, not with the announced size.
	var err error
	f.payload, err = fsread.ReadAll(io.LimitReader(r, int64(size)), int64(size))
	if err == nil && uint64(len(f.payload)) < size {
		err = io.ErrUnexpectedEOF
	}
	return f, err
}

// unexpectedEOF turns io.EOF inside a frame into [io.ErrUnexpectedEOF].
func unexpectedEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
