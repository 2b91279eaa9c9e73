# shellcheck shell=bash
# Read by tests/run and tests/release: where tools are built.
case $(uname) in
Darwin) cache=$HOME/Library/Caches ;;
*) cache=${XDG_CACHE_HOME:-$HOME/.cache} ;;
esac
tools=$cache/agentctl-test/tools

# tool MODULE@VERSION prints the path of the built tool, building it first if need be. It is built for this machine
# whatever is being checked, and again for each version of Go: a tool cannot read code newer than itself.
tool() {
	local path=${1%@*} version=${1##*@} name dir
	name=${path%/v[0-9]}
	name=${name##*/}
	dir=$tools/$name-$version-$(go env GOVERSION)
	if [ ! -x "$dir/$name" ]; then
		echo "building $name $version" >&2
		mkdir -p "$tools"
		rm -rf "$dir.tmp.$$"
		GOOS= GOARCH= GOFLAGS= GOBIN=$dir.tmp.$$ go install "$1" >&2 || return 1
		rm -rf "$dir"
		mv "$dir.tmp.$$" "$dir" || return 1
	fi
	echo "$dir/$name"
}
