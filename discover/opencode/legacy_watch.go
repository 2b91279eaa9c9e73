package opencode

import (
	"context"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
)

// maxWatched is the most messages of a session in files that are watched at a time.
const maxWatched = 10

// legacyWatchPaths returns the folder of a session's messages, and the newest messages with their parts, down to the newest of the
// model: each of these files is rewritten in place. The user may send messages while the model answers.
func legacyWatchPaths(ctx context.Context, s discover.Session) []string {
	messages := newLegacyMessages(ctx, s.Path, s.ID)
	paths := []string{messages.dir}
	names, _ := listJSONNames(ctx, messages.dir, messagePrefix) // if they cannot be listed, the folder is watched
	for i, name := range slices.Backward(names) {
		message, partDir := messages.row(messages.dir, name), messages.partDir(name)
		paths = append(paths, message.path, partDir)
		parts, _ := listJSONNames(ctx, partDir, partPrefix)
		for _, part := range parts {
			paths = append(paths, filepath.Join(partDir, part+".json"))
		}
		if !transcript.ParseMessage(message.JSON()).FromUser() || i <= len(names)-maxWatched {
			break
		}
	}
	return paths
}
