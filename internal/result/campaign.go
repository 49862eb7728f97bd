package result

import (
	"path"
	"path/filepath"
	"time"
)

// CampaignFile is the name of a campaign's file in its folder.
const CampaignFile = "campaign.json"

// Kinds of campaigns.
const (
	KindRuns   = "runs"   // scenarios, sweeps and repeats
	KindSearch = "search" // for the highest rate that holds
	KindPeers  = "peers"  // Kafka's own tools beside ours
)

// Statuses of a campaign's run beside Valid and Invalid.
const (
	Interrupted = "interrupted" // a person ended it early
	Failed      = "failed"      // it could not be started
)

// Campaign is campaign.json: runs that belong together, as they were planned and
// as far as they were made. The folder holds this file alone; the runs are
// folders beside it, so that each can be read by itself.
type Campaign struct {
	SchemaVersion int           `json:"schema_version" jsonschema:"minimum=1"`
	Campaign      CampaignInfo  `json:"campaign"`
	Axes          []Axis        `json:"axes,omitempty"` // of the matrix, if there is one
	Cells         []Cell        `json:"cells"`          // the configurations that are set beside each other
	Runs          []CampaignRun `json:"runs"`           // in the order of the plan
	Search        *Search       `json:"search,omitempty"`
}

// CampaignInfo identifies a campaign.
type CampaignInfo struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Kind     string `json:"kind" jsonschema:"enum=runs,enum=search,enum=peers"`
	Question string `json:"question,omitempty"` // that it is to answer
	// by which a report answers it: most, knee, scaling, slope, times, failover
	Answer    string    `json:"answer,omitempty"`
	By        string    `json:"by,omitempty"`    // the figure that its suite is judged by
	Notes     []string  `json:"notes,omitempty"` // on what was planned, as that cells were left out
	StartedAt time.Time `json:"started_at"`      // UTC
	// FinishedAt is when the last planned run was made, UTC; absent from a
	// campaign that did not get there, which can be resumed.
	FinishedAt time.Time `json:"finished_at,omitzero"`
	Tool       Tool      `json:"tool"`
	Order      string    `json:"order" jsonschema:"enum=interleaved,enum=blocked"`
	Seed       uint64    `json:"seed,omitempty"` // of the order within each round; 0 is as written
	Repeat     int       `json:"repeat"`         // the most runs of a cell
}

// Axis is one setting that a matrix varies.
type Axis struct {
	Path   string   `json:"path"` // as in load.compression
	Values []string `json:"values"`
}

// Cell is one configuration of a campaign.
type Cell struct {
	Name   string   `json:"name"`
	Values []string `json:"values,omitempty"` // one for each axis
	// Against is the variant whose cell with the same other values this cell is held against.
	Against  string   `json:"against,omitempty"`
	Scenario Settings `json:"scenario"` // resolved; as the YAML names things
}

// CampaignRun is one planned run.
type CampaignRun struct {
	Cell  int `json:"cell"`  // its place in Cells, from 0
	Round int `json:"round"` // from 0
	// Dir is the run's folder, relative to the campaign's, with slashes;
	// empty until it exists.
	Dir string `json:"dir,omitempty"`
	// Status is empty until the run has ended: then valid, invalid,
	// interrupted, or failed where there was no run (see Error).
	Status string `json:"status,omitempty" jsonschema:"enum=valid,enum=invalid,enum=interrupted,enum=failed"`
	Error  string `json:"error,omitempty"`
}

// Done tells whether the run needs no more to be made: whatever its verdict is.
func (r CampaignRun) Done() bool { return r.Status == Valid || r.Status == Invalid }

// Made is the number of runs that are done.
func (c *Campaign) Made() (n int) {
	for _, run := range c.Runs {
		if run.Done() {
			n++
		}
	}
	return n
}

// Finished tells whether the campaign came to its end.
func (c *Campaign) Finished() bool { return !c.Campaign.FinishedAt.IsZero() }

// RunDir is the folder of a run by its place in Runs, for a campaign that was
// read from dir.
func (c *Campaign) RunDir(dir string, place int) string { return path.Join(dir, c.Runs[place].Dir) }

// Beside is what CampaignRun.Dir says of a run's folder that is beside the
// campaign's.
func Beside(runDir string) string { return path.Join("..", filepath.Base(runDir)) }
