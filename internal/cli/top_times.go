package cli

import "time"

// All times of the package, each with its reason.
const (
	// drawInterval is how often the screen is drawn if nothing changes: ages, and the use of processors, change all the time.
	drawInterval = 500 * time.Millisecond
	// sampleInterval is the time between two samples of processor use, whose clock counts in hundredths of a second: shorter ones
	// would be too coarse.
	sampleInterval = 2 * time.Second
	// changesInterval is the least time between two questions to git for the uncommitted changes: they take two processes for each
	// directory.
	changesInterval = 15 * time.Second
	// costShare bounds what each kind of sample takes, to one part in so many of the time.
	costShare = 500
	// treeShare bounds in the same way what the building of process trees takes. They are what shows new tools, so it is done more
	// often.
	treeShare = 100
	// rateSpan is the time over which tokens a minute are counted; leastRateSpan is the least from which a rate is told.
	rateSpan, leastRateSpan = time.Minute, 5 * time.Second

	// paneShare is the pause after a command for the pane as a multiple of its duration, at least panePause.
	paneShare = 20
	panePause = 250 * time.Millisecond
)
