package main

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/childenv"
	"kafkabench.example/kafka-bench/internal/run/fleet"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// localAgent is an agent that this process has started. It ends with its standard input.
type localAgent struct {
	cmd   *exec.Cmd
	said  saying
	ended chan struct{} // closed when the process has ended, with err
	err   error
}

type saying struct {
	mu   sync.Mutex
	text bytes.Buffer
}

const mostSaid = 64 << 10

func (s *saying) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(b)
	if old := s.text.Len() - mostSaid; old > 0 {
		s.text.Next(old)
	}
	return len(b), nil
}

func (s *saying) all() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.text.Bytes())
}

func (s *saying) lastLine() string {
	lines := strings.Split(strings.TrimSpace(string(s.all())), "\n")
	return lines[len(lines)-1]
}

// startLocal starts the agents of this machine. They get the access over standard input, so they need no variable that
// the client properties name.
func (s *session) startLocal(name, at, id string, a access.Access) error {
	passed, err := a.Handover()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding the program's own file: %w", err)
	}
	for i := range s.flags.of() {
		words := append(s.command(name, at, id, strconv.Itoa(i)), "--spool", s.spool, "--local")
		if s.engine.keepTopics {
			words = append(words, "--keep-topics")
		}
		cmd := exec.Command(program, words[1:]...)
		cmd.Env = childenv.Program(passed.Reads()...)
		a, err := startAgent(cmd, i, passed, s.lead)
		if err != nil {
			return fmt.Errorf("starting agent %d: %w", i, err)
		}
		s.local = append(s.local, a)
	}
	return nil
}

// startAgent starts an agent. It reports the end of the process, with the reason, to the
// coordinator.
func startAgent(cmd *exec.Cmd, index int, passed access.Handover, lead *fleet.Coordinator) (*localAgent, error) {
	a := &localAgent{cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = io.Discard, &a.said
	remote.InOwnGroup(cmd)
	in, err := cmd.StdinPipe() // open until this process ends, and the agent with it
	if err != nil {
		return nil, err
	}
	return a, remote.StartTied(cmd, func() {
		_ = gob.NewEncoder(in).Encode(passed) // it fails if the agent has ended, and Wait returns why
		a.err = cmd.Wait()
		close(a.ended)
		why := cmp.Or(a.err, errors.New("by itself"))
		if last := a.said.lastLine(); last != "" {
			why = fmt.Errorf("%w: %s", why, last)
		}
		lead.Ended(index, why)
	})
}

// endLocal waits for the agents, and kills those that do not end. It writes the output of failed
// agents into the folder of the session's last run, if that was saved.
func (s *session) endLocal() (failed error) {
	dirs, _ := filepath.Glob(filepath.Join(s.engine.out, "*-"+s.lead.RunID())) // the pattern is valid
	late := time.After(endTimeout)
	for i, a := range s.local {
		select {
		case <-a.ended:
		case <-late:
			for _, other := range s.local[i:] {
				_ = other.cmd.Process.Kill() // killing an ended one does nothing
			}
			<-a.ended
		}
		if a.err == nil {
			continue
		}
		if len(dirs) != 1 || s.lead.RunID() == "" {
			continue
		}
		err := os.WriteFile(filepath.Join(dirs[0], fmt.Sprintf("agent-%d.log", i)), a.said.all(), 0o644)
		failed = errors.Join(failed, err)
	}
	return failed
}
