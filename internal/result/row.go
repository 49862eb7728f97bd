package result

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"time"
)

// Row is one run of a list: a few fields of run.json. A figure is nil if the run did not measure it
// or did not finish.
type Row struct {
	Dir         string
	ID, Name    string
	StartedAt   time.Time // zero if an imported result has none
	Status      string    // of the verdict
	Finished    bool
	Interrupted bool
	Imported    string // the format of another tool's result; "" for our own run

	OfferedPerS, AckedPerS *float64
	// E2EP99Ns is of the response time, or its lower bound if E2EP99AtLeast. E2ERecords is the
	// number of records; package figure decides whether they are enough.
	E2EP99Ns       *int64
	E2EP99AtLeast  bool
	E2ERecords     int64
	E2EErrorNs     int64 // from the clocks of two machines, see Time
	LagPeakRecords *int64
}

// ReadRow reads the row of the run in dir. It is faster than ReadSummary, because it decodes only
// these fields.
func ReadRow(fsys fs.FS, dir string) (Row, error) {
	var d rowDocument
	if err := readDocument(fsys, dir, SummaryFile, ErrNotARun, &d); err != nil {
		return Row{}, err
	}
	run := Run{Run: Info{Name: d.Run.Name, Imported: d.Run.Imported}, Verdict: Verdict{Status: d.Verdict.Status}}
	if err := run.checkWords(); err != nil {
		return Row{}, fmt.Errorf("%s: %w", path.Join(dir, SummaryFile), err)
	}
	return d.row(dir), nil
}

type rowDocument struct {
	SchemaVersion int `json:"schema_version"`
	Run           struct {
		ID          string    `json:"id"`
		Name        string    `json:"name"`
		StartedAt   time.Time `json:"started_at"`
		FinishedAt  time.Time `json:"finished_at"`
		Interrupted bool      `json:"interrupted"`
		Imported    *Imported `json:"imported"`
		NotMeasured []string  `json:"not_measured"`
	} `json:"run"`
	Verdict struct {
		Status string `json:"status"`
	} `json:"verdict"`
	Load struct {
		OfferedPerS float64 `json:"offered_per_s"`
		AckedPerS   float64 `json:"acked_per_s"`
	} `json:"load"`
	Time struct {
		E2E Time `json:"e2e_response_time"`
	} `json:"time"`
	Delivery struct {
		Copies int `json:"copies"`
	} `json:"delivery"`
	Lag struct {
		PeakRecords *int64 `json:"peak_records"`
	} `json:"lag"`
}

func (d *rowDocument) row(dir string) Row {
	run := Run{Run: Info{FinishedAt: d.Run.FinishedAt, Imported: d.Run.Imported, NotMeasured: d.Run.NotMeasured}}
	r := Row{
		Dir: dir, ID: d.Run.ID, Name: d.Run.Name, Status: statusOf(d.Verdict.Status, d.Run.Imported),
		Finished: run.Finished(), Interrupted: d.Run.Interrupted,
	}
	if run.Says("run.started_at") {
		r.StartedAt = d.Run.StartedAt
	}
	if i := d.Run.Imported; i != nil {
		r.Imported = i.Format
	}
	if !r.Finished {
		return r
	}
	if run.Says("load.offered_per_s") {
		r.OfferedPerS = &d.Load.OfferedPerS
	}
	if run.Says("load.acked_per_s") {
		r.AckedPerS = &d.Load.AckedPerS
	}
	if e2e := &d.Time.E2E; e2e.P99Ns > 0 && run.Says("time.e2e_response_time.p99_ns") {
		r.E2EP99Ns, r.E2EP99AtLeast = &e2e.P99Ns, slices.Contains(e2e.AtLeast, "p99_ns")
		r.E2EErrorNs = e2e.ErrorNs
		r.E2ERecords = (e2e.Count + e2e.NotEnded) / int64(max(1, d.Delivery.Copies))
	}
	if run.Says("lag.peak_records") {
		r.LagPeakRecords = d.Lag.PeakRecords
	}
	return r
}
