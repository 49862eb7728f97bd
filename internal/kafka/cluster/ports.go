package cluster

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Linux (from 32768) and macOS (from 49152) use higher ports for outgoing connections. If a broker
// had such a port, a client that retries the stopped broker could get this port, connect to itself,
// and prevent the restart.
const (
	portFirst = 15000
	portLast  = 32000
)

func freePorts(n int) ([]int, error) {
	ports := make([]int, 0, n)
	seen := make(map[int]bool, n)
	for tries := 0; len(ports) < n; tries++ {
		if tries == 1000 {
			return nil, &Error{
				Kind:   ErrUnavailable,
				What:   fmt.Sprintf("there are not %d free ports from %d to %d on %s", n, portFirst, portLast, host),
				Remedy: "stop the processes that listen there",
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

func portFree(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("%s:%d", host, port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}
