package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports for brokers come from below the range that Linux (32768) and macOS
// (49152) take for outgoing connections. From within that range, a client that
// keeps trying to reach a stopped broker could be given the broker's own port,
// connect to itself, and keep the broker from coming back.
const (
	portFirst = 15000
	portLast  = 32000
)

// freePorts returns n different ports that nobody listens on at this moment.
func freePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	seen := make(map[int]bool, n)
	for tries := 0; len(ports) < n; tries++ {
		if tries == 1000 {
			return nil, &Error{
				Kind:   ErrUnavailable,
				What:   fmt.Sprintf("there are not %d free ports from %d to %d on %s", n, portFirst, portLast, host),
				Remedy: "name the brokers' ports yourself",
			}
		}
		port := portFirst + rand.IntN(portLast-portFirst)
		if !seen[port] && portFree(port) {
			ports = append(ports, port)
		}
		seen[port] = true
	}
	return ports, nil
}

// portFree reports whether a broker could listen on port.
func portFree(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", host, port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}
