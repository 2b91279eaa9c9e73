package transcript

import (
	"cmp"
	"strconv"

	"agentctl/discover/native/jsonl"
)

// Metadata is what records other than those of the conversation say of a session. Claude Code appends them anew now and
// then: the newest of each kind counts. A value is nil if none was read.
type Metadata [metadataFields]*string

const (
	CustomTitle = iota // the title that the user has given
	aiTitle
	RelocatedDir   // the directory that the session was moved to
	WorktreeBranch // the branch of the worktree that Claude Code made for the session; "" once the session has left it
	ContinuedIn    // the background session that this session continues as
	costUSD        // in USD
	metadataFields
)

// Get returns the value of a field, "" if there is none.
func (n *Metadata) Get(kind int) string {
	if n[kind] == nil {
		return ""
	}
	return *n[kind]
}

// Title returns the user's title, else the agent's.
func (n *Metadata) Title() string { return cmp.Or(n.Get(CustomTitle), n.Get(aiTitle)) }

// CostUSD returns the cost; nil if none is recorded.
func (n *Metadata) CostUSD() *float64 {
	if n[costUSD] == nil {
		return nil
	}
	usd, _ := strconv.ParseFloat(*n[costUSD], 64) // it is a number
	return &usd
}

// metadataField returns the field that a record of this kind sets, and the key of its value; "" for other kinds.
func metadataField(kind []byte) (field int, key string) {
	switch string(kind) {
	case "custom-title":
		return CustomTitle, "customTitle"
	case "ai-title":
		return aiTitle, "aiTitle"
	case "relocated":
		return RelocatedDir, "relocatedCwd"
	case "worktree-state":
		return WorktreeBranch, "worktreeSession"
	case "continued-in":
		return ContinuedIn, "continuedInSessionId"
	case "cost-state":
		return costUSD, "totalCostUSD"
	}
	return 0, ""
}

// add takes a metadata record. newest says that it is newer than those taken before; else it only fills gaps. An empty
// title removes the title, and so does a worktree-state without a worktree.
func (n *Metadata) add(kind, raw []byte, newest bool) {
	field, key := metadataField(kind)
	if key == "" || n[field] != nil && !newest {
		return
	}
	record := jsonl.Object(raw)
	v := record.Get(key)
	text := v.Text(0)
	known := text != ""
	switch field {
	case CustomTitle, aiTitle:
		known = true
	case WorktreeBranch:
		text, known = v.Object().Get("worktreeBranch").Text(0), v != nil
	case costUSD:
		text = string(v.Raw())
		_, err := strconv.ParseFloat(text, 64)
		known = err == nil
	}
	if known && record.Complete() {
		n[field] = &text
	}
}

// FillFrom fills the gaps with older metadata.
func (n *Metadata) FillFrom(older *Metadata) {
	for i := range n {
		n[i] = cmp.Or(n[i], older[i])
	}
}

// printEntrypoint is the entrypoint of print mode (-p).
const printEntrypoint = "sdk-cli"
