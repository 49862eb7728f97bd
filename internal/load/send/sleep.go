package send

import "time"

// A sleeper waits for a worker's next due time.
type sleeper interface {
	sleep(d time.Duration)
	close()
}

// sleeping is a sleeper by a function that holds nothing.
type sleeping func(time.Duration)

func (s sleeping) sleep(d time.Duration) { s(max(d, minSleep)) }
func (sleeping) close()                  {}

// minSleep keeps a worker that is always behind from spinning: at high rates
// the next record is due at once, and what comes due meanwhile goes out as one
// batch with the stamps it would have had anyway.
const minSleep = 20 * time.Microsecond

// frugal sleeps by the runtime's timers. On Linux those wake about a millisecond
// late when the process is otherwise idle (the network poller counts in
// milliseconds), and cost next to nothing.
var frugal = sleeping(time.Sleep)
