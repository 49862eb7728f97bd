package remote

import (
	"fmt"
	"io"
	"net/rpc"
	"sync"
)

// Serve answers what is asked on in, on out, until in ends: then whoever asked is
// gone, and so is the sense of everything that is still under way. services are by
// the name that their methods are called with; see net/rpc for what a method looks
// like.
func Serve(in io.Reader, out io.WriteCloser, services map[string]any) error {
	server := rpc.NewServer()
	for name, service := range services {
		if err := server.RegisterName(name, service); err != nil {
			return fmt.Errorf("serving %s: %w", name, err)
		}
	}
	requests := &untilEnd{Reader: in, ended: make(chan struct{})}
	// It waits for answers that nobody wants any more, so nobody waits for it.
	go server.ServeConn(duplex{requests, out})
	<-requests.ended
	return nil
}

// untilEnd notices when there is nothing left to read.
type untilEnd struct {
	io.Reader
	once  sync.Once
	ended chan struct{}
}

// Read reads, and notes any error for the end.
func (r *untilEnd) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.once.Do(func() { close(r.ended) })
	}
	return n, err
}
