package send

import "time"

// A sleeper waits for a worker's next due time.
type sleeper interface {
	sleep(d time.Duration)
	close()
}

// sleeping makes a sleeper of a function.
type sleeping func(time.Duration)

func (s sleeping) sleep(d time.Duration) { s(max(d, minSleep)) }
func (sleeping) close()                  {}

// minSleep keeps a worker that is always late from spinning. Records that come due meanwhile go out in one batch,
// with the stamps that they would have had anyway.
const minSleep = 20 * time.Microsecond

// frugal sleeps by the runtime's timers, which cost almost nothing. On Linux they fire about a millisecond late if
// the process is idle, because the network poller counts in milliseconds.
var frugal = sleeping(time.Sleep)
