package remote

import (
	"context"
	"errors"
	"io"
	"os"
)

type local struct {
	cancel context.CancelFunc
	cut    func(error) // breaks its pipes
	ended  chan error
}

var errKilled = errors.New("killed")

func (s *local) pid() int     { return os.Getpid() }
func (s *local) stand() error { return errors.ErrUnsupported }
func (s *local) goOn() error  { return errors.ErrUnsupported }
func (s *local) wait() error  { return <-s.ended }
func (s *local) kill()        { s.cancel(); s.cut(errKilled) }

func (c *Child) serveHere(s Start) error {
	ctx, cancel := context.WithCancel(context.Background())
	requests, ask := io.Pipe()
	answers, answer := io.Pipe()
	w := &local{cancel: cancel, ended: make(chan error, 1), cut: func(why error) {
		_, _ = requests.CloseWithError(why), answers.CloseWithError(why)
	}}
	c.worker, c.stdin = w, ask
	c.connect(answers, ask)
	go func() {
		err := s.Here(ctx, s.Name, requests, answer)
		cancel()
		w.cut(io.ErrClosedPipe)
		w.ended <- err
	}()
	go c.await()
	return nil
}
