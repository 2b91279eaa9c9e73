package host

import (
	"errors"
	"fmt"
)

// UnreachableError means that ssh does not get to a host.
type UnreachableError struct {
	// Reason is the last line that ssh printed.
	Reason string
}

func (e *UnreachableError) Error() string { return "it cannot be reached: " + e.Reason }

// MissingError means that a host has no agentctl.
type MissingError struct {
	// Platform is what uname says there, such as "Linux x86_64".
	Platform string
}

func (e *MissingError) Error() string { return "it has no agentctl" }

// VersionError means that the agentctl of a host speaks another version of the JSON contract.
type VersionError struct {
	Hello Hello
	// Wanted is the contract of this program.
	Wanted string
}

func (e *VersionError) Error() string {
	if e.Hello.Schema == "" {
		return "its agentctl is of a version that cannot be asked from here"
	}
	return fmt.Sprintf("its agentctl %s prints %s, and this one reads %s", e.Hello.Version, e.Hello.Schema, e.Wanted)
}

// CutError means that the connection has ended before the answer was complete.
type CutError struct{ Reason string }

func (e *CutError) Error() string { return "the connection has ended: " + e.Reason }

// ErrSilent means that a host does not answer in time.
var ErrSilent = errors.New("the connection is there, and nothing answers")
