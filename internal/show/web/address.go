package web

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Address is where pages are served. The zero value is no address.
type Address struct {
	host string
	port string
}

// ParseAddress parses host:port. Port 0 means any free port.
func ParseAddress(text string) (Address, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return Address{}, fmt.Errorf(
			"%q is no address; write it as 127.0.0.1:8780, or 127.0.0.1:0 for a port that is free", text)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return Address{}, fmt.Errorf("%q has no port from 0 to 65535; write it as 127.0.0.1:8780", text)
	}
	if host == "" {
		host = "0.0.0.0"
	}
	return Address{host: strings.ToLower(host), port: port}, nil
}

// String returns the address as ParseAddress accepts it.
func (a Address) String() string { return net.JoinHostPort(a.host, a.port) }

// Loopback reports whether the address looks like one that only this machine reaches. Open finds
// out where a name resolves to.
func (a Address) Loopback() bool { return loopback(a.host) }

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

func (a Address) everywhere() bool {
	ip := net.ParseIP(a.host)
	return ip != nil && ip.IsUnspecified()
}

// names reports whether a Host header names the address. Another site can make its own name resolve
// to this server, but cannot choose the Host header of its visitor's browser. The port may differ,
// as in a tunnel. An IP address cannot resolve to another host.
func (a Address) names(header string) bool {
	host := strings.ToLower(header)
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return loopback(host) || host == a.host || a.everywhere() && net.ParseIP(host) != nil
}

func (a Address) url(port string) string {
	return "http://" + net.JoinHostPort(a.reachable(), port) + "/"
}

// reachable returns the host for a URL. If the server listens at every address of the machine, this
// is an address that other machines may reach.
func (a Address) reachable() string {
	if !a.everywhere() {
		return a.host
	}
	addresses, _ := net.InterfaceAddrs() // without one, use the loopback address
	for _, address := range addresses {
		if n, ok := address.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			return n.IP.String()
		}
	}
	return "127.0.0.1"
}

// ErrReached refuses metrics without a token at an address that is not loopback.
var ErrReached = errors.New("choose a loopback address, as 127.0.0.1:9464, or name a token with " +
	"--metrics-token-file: other machines reach this one")

// Open wraps errTaken if another program listens at the address.
var errTaken = errors.New("another program listens there; choose another port, or 0 for any that is free")
