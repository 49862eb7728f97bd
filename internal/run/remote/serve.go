package remote

import (
	"fmt"
	"io"
	"net/rpc"
	"sync"
)

// Serve reads requests from in and writes the answers to out. At the end of the input it returns
// without waiting for pending requests. services are the net/rpc services by name.
func Serve(in io.Reader, out io.WriteCloser, services map[string]any) error {
	server := rpc.NewServer()
	for name, service := range services {
		if err := server.RegisterName(name, service); err != nil {
			return fmt.Errorf("serving %s: %w", name, err)
		}
	}
	requests := &untilEnd{Reader: in, ended: make(chan struct{})}
	// ServeConn waits for pending answers, so do not wait for it.
	go server.ServeConn(duplex{requests, out})
	<-requests.ended
	return nil
}

type untilEnd struct {
	io.Reader
	once  sync.Once
	ended chan struct{}
}

func (r *untilEnd) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.once.Do(func() { close(r.ended) })
	}
	return n, err
}
