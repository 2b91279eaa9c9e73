// Package packages tests the packages of a release as tests/release builds them: their bytes, and what a fresh Debian does with them. It
// builds without network, and twice: from two directories. It builds for the architecture of this machine only, unless
// all is asked for.
package packages
