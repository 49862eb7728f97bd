package send

import "time"

type sleeper interface {
	sleep(d time.Duration)
	close()
}

type sleeping func(time.Duration)

func (s sleeping) sleep(d time.Duration) { s(max(d, minSleep)) }
func (sleeping) close()                  {}

// minSleep keeps a worker that is always late from spinning.
const minSleep = 20 * time.Microsecond

// frugal sleeps by the runtime's timers. On Linux they fire about a millisecond late if the process is idle,
// because the network poller counts in milliseconds.
var frugal = sleeping(time.Sleep)
