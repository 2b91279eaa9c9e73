package object

// Lock is the JSON object of a lock that is in force.
type Lock struct {
	Directory string `json:"directory"`
	// Kind is session, held or declared.
	Kind  string `json:"type"`
	Since string `json:"lockedAt,omitempty"`
	// Adapter, SessionID and Status describe the live session of a session lock.
	Adapter   string  `json:"adapter,omitempty"`
	SessionID *string `json:"sessionId,omitempty"`
	Status    string  `json:"status,omitempty"`
	// PID is the process of the session, or the process that holds the lock.
	PID int `json:"pid,omitempty"`
	// LockedBy is who declared the lock, or the name of the process that holds it.
	LockedBy string `json:"lockedBy,omitempty"`
	Reason   string `json:"reason,omitempty"`
	// Shared: several processes can hold this held lock at once. It conflicts only with an exclusive lock.
	Shared bool `json:"shared,omitempty"`
	// Until is when a declared lock expires.
	Until string `json:"expiresAt,omitempty"`
}

// Worktree is the JSON object of a git worktree: what git reports, and the live sessions in it.
type Worktree struct {
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty"`
	Head   string `json:"head,omitempty"`
	// Main: the main worktree of the repository. Bare: the repository has no working files.
	Main     bool `json:"main"`
	Bare     bool `json:"bare"`
	Detached bool `json:"detached"`
	// HalfMade: `git worktree add` has not finished: it is running, or was killed.
	HalfMade    bool   `json:"halfMade"`
	Locked      bool   `json:"locked"`
	LockReason  string `json:"lockReason,omitempty"`
	Prunable    bool   `json:"prunable"`
	PruneReason string `json:"pruneReason,omitempty"`
	// Group is the launch group for which the branch was created.
	Group string `json:"group,omitempty"`
	// Sessions are the live sessions in the worktree.
	Sessions []Session `json:"sessions"`
}

// CleanResult is the JSON object of one worktree or branch that worktree clean considered for removal.
type CleanResult struct {
	// Path is "" for a branch without a worktree.
	Path   string `json:"path,omitempty"`
	Branch string `json:"branch,omitempty"`
	// Result is removed, planned, refused or failed.
	Result string `json:"result"`
	// BranchDeleted: the branch was deleted as well.
	BranchDeleted bool `json:"branchDeleted"`
	// Reasons say why the removal was refused; Message is the error if it failed.
	Reasons []CleanReason `json:"reasons"`
	Message string        `json:"message,omitempty"`
}

// CleanReason is one reason against removal: a code and a sentence.
type CleanReason struct {
	Why     string `json:"why"`
	Message string `json:"message"`
}

// GitHook is the JSON object of a git hook of a repository.
type GitHook struct {
	Hook string `json:"hook"`
	// State is installed, not_installed, foreign, manual or modified.
	State string `json:"state"`
	Path  string `json:"path"`
	// Program is the agentctl that an installed hook runs.
	Program string `json:"program,omitempty"`
	// TrailerMerges: the hook adds the session trailer to merge and squash commits too.
	TrailerMerges bool `json:"trailerMerges,omitempty"`
	// Original is the hook that was installed before, if our hook calls it.
	Original string `json:"original,omitempty"`
	// Manager is the tool that manages a foreign hook. Reason says why the hook is foreign, manual or modified; Advice
	// says what the user can do.
	Manager string `json:"manager,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Advice  string `json:"advice,omitempty"`
	// Changed: this command changed the hook.
	Changed bool `json:"changed"`
}
