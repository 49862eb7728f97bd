package main

import (
	"errors"
	"fmt"
	"net"

	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/fleet/echo"
)

const (
	clockAuto  = "auto"
	clockEcho  = "echo"
	clockKafka = "kafka"
)

func (f agentFlags) checkClock() error {
	var faults []error
	if f.clock != clockAuto && f.clock != clockEcho && f.clock != clockKafka {
		faults = append(faults, fmt.Errorf("--clock %q: choose auto, echo or kafka", f.clock))
	}
	if f.at == "" {
		return errors.Join(faults...)
	}
	if _, _, err := net.SplitHostPort(f.at); err != nil {
		faults = append(faults, fmt.Errorf("--clock-addr %q: write it as host:port", f.at))
	}
	if f.clock == clockKafka {
		faults = append(faults, errors.New("--clock-addr is for UDP; leave it out, or --clock kafka"))
	}
	return errors.Join(faults...)
}

// openClock opens the UDP address where other agents ask for the time. Without such an address,
// agents compare clocks over the session's topic.
func (f agentFlags) openClock() (c fleet.Clock, err error) {
	c.SlewNs = echo.Machine().SlewNs
	if f.clock == clockAuto {
		if c.Boot, err = echo.ReadBoot(); err != nil {
			return c, err
		}
	}
	if f.clock == clockKafka || f.in.probes.Clock() != nil { // or in virtual time
		return c, nil
	}
	host, port := "", "0"
	if f.at != "" {
		host, port, _ = net.SplitHostPort(f.at) // checkClock has validated it
	}
	if host == "" {
		if host, err = hostTowards(f.brokers[0]); err != nil {
			return c, nil //nolint:nilerr // nobody reaches a host without an address by UDP
		}
	}
	if c.Conn, err = net.ListenPacket("udp", net.JoinHostPort(host, port)); err != nil {
		return c, fmt.Errorf("--clock-addr: %w", err)
	}
	return c, nil
}

// hostTowards returns this host's address on the route to addr. It sends nothing.
func hostTowards(addr string) (string, error) {
	conn, err := net.Dial("udp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	return host, err
}
