package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

type contender struct {
	name    string
	measure func(ctx context.Context) (sample, error)
}

type sample struct {
	perSecond float64       // records
	cpu       time.Duration // of the client for each record; 0 if unknown
	allocated *float64      // bytes of the client for each record; nil if unknown
}

type measured struct {
	contender
	samples []sample
}

// warming is the number of contenders in the round that does not count.
const warming = 2

// The first round does not count, because the broker's JIT compiler is still at work.
func (l *lab) inRounds(ctx context.Context, subject string, contenders []contender) ([]measured, error) {
	all := make([]measured, len(contenders))
	for i, c := range contenders {
		all[i].contender = c
	}
	for round := range l.plan.rounds + 1 {
		for i := range all {
			if round == 0 && i >= warming {
				break
			}
			settle()
			stop, err := l.profile(fmt.Sprintf("%s-%d-%d", subject, i+1, round))
			if err != nil {
				return nil, err
			}
			s, err := all[i].measure(ctx)
			stop()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", all[i].name, err)
			}
			if round == 0 {
				continue
			}
			l.progress("%s, round %d: %s %s, %v of CPU a record", subject, round, all[i].name, unit.PerSecond(s.perSecond), s.cpu)
			all[i].samples = append(all[i].samples, s)
		}
	}
	return all, nil
}

func (l *lab) profile(name string) (stop func(), err error) {
	if l.plan.profiles == "" {
		return func() {}, nil
	}
	f, err := os.Create(filepath.Join(l.plan.profiles, name+".pprof"))
	if err != nil {
		return nil, fmt.Errorf("writing a profile: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, fmt.Errorf("writing a profile: %w", err)
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

func (m measured) perSecond() float64 {
	return median(m.samples, func(s sample) float64 { return s.perSecond })
}

func (m measured) cpu() time.Duration {
	return time.Duration(median(m.samples, func(s sample) float64 { return float64(s.cpu) }))
}

// The bytes are not known for a process in another language.
func (m measured) allocated() string {
	if slices.ContainsFunc(m.samples, func(s sample) bool { return s.allocated == nil }) {
		return "–"
	}
	return fmt.Sprintf("%.0f B", median(m.samples, func(s sample) float64 { return *s.allocated }))
}

func median[T any](samples []T, figure func(T) float64) float64 {
	figures := make([]float64, len(samples))
	for i, s := range samples {
		figures[i] = figure(s)
	}
	slices.Sort(figures)
	n := len(figures)
	return (figures[(n-1)/2] + figures[n/2]) / 2
}

func (l *lab) compare(all []measured, recordBytes int) {
	t := layout.Table{Rows: [][]string{{"", "median", "÷ first", "CPU of the client for a record", "allocated for a record", "each round, 1,000/s"}}}
	for _, m := range all {
		cpu := "–"
		if m.cpu() > 0 {
			cpu = fmt.Sprintf("%d ns", m.cpu().Nanoseconds())
		}
		var rounds []string
		for _, s := range m.samples {
			rounds = append(rounds, fmt.Sprintf("%.0f", s.perSecond/1000))
		}
		t.Add(m.name, perSecond(m.perSecond(), recordBytes), fmt.Sprintf("%.2f", m.perSecond()/all[0].perSecond()),
			cpu, m.allocated(), strings.Join(rounds, ", "))
	}
	fmt.Fprint(l.stdout, t.Markdown())
}
