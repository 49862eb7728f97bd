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
	KindSearch = "search" // for the highest sustained rate
	KindPeers  = "peers"  // Kafka's own tools compared with ours
)

// Statuses of a run, in addition to Valid and Invalid.
const (
	Interrupted = "interrupted" // a person ended it early
	Failed      = "failed"      // it could not be started
)

// Campaign is campaign.json: runs that belong together, planned and made. Its folder holds only
// this file. The runs' folders are next to it, so that each can be read separately.
type Campaign struct {
	SchemaVersion int           `json:"schema_version" jsonschema:"minimum=1"`
	Campaign      CampaignInfo  `json:"campaign"`
	Axes          []Axis        `json:"axes,omitempty"` // of the matrix, if there is one
	Cells         []Cell        `json:"cells"`          // the configurations to compare
	Runs          []CampaignRun `json:"runs"`           // in the order of the plan
	Search        *Search       `json:"search,omitempty"`
}

// CampaignInfo identifies a campaign.
type CampaignInfo struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Kind     string `json:"kind" jsonschema:"enum=runs,enum=search,enum=peers"`
	Question string `json:"question,omitempty"` // that the campaign is to answer
	// how a report answers the question: most, knee, scaling, slope, times, failover
	Answer    string            `json:"answer,omitempty"`
	By        string            `json:"by,omitempty"`       // the figure that the suite uses for its answer
	Notes     []string          `json:"notes,omitempty"`    // on the plan, such as omitted cells
	Expected  []string          `json:"expected,omitempty"` // of every run, see Info
	Labels    map[string]string `json:"labels,omitempty"`   // of every run, see Info
	StartedAt time.Time         `json:"started_at"`         // UTC
	// FinishedAt is when the last planned run was made, UTC; absent in a campaign that can be
	// resumed.
	FinishedAt time.Time `json:"finished_at,omitzero"`
	Tool       Tool      `json:"tool"`
	Order      string    `json:"order" jsonschema:"enum=interleaved,enum=blocked"`
	Seed       uint64    `json:"seed,omitempty"` // of the order within each round; 0 keeps the written order
	Repeat     int       `json:"repeat"`         // the most runs of a cell
}

// Axis is one setting that a matrix varies.
type Axis struct {
	Path   string   `json:"path"` // such as load.compression
	Values []string `json:"values"`
}

// Cell is one configuration of a campaign.
type Cell struct {
	Name   string   `json:"name"`
	Values []string `json:"values,omitempty"` // one for each axis
	// Against names a variant: this cell is compared with the cell of that variant whose other
	// values are the same.
	Against  string   `json:"against,omitempty"`
	Scenario Settings `json:"scenario"` // resolved, with the names of the YAML
}

// CampaignRun is one planned run.
type CampaignRun struct {
	Cell  int `json:"cell"`  // index in Cells
	Round int `json:"round"` // from 0
	// Dir is the run's folder, relative to the campaign's, with slashes; empty until it exists.
	Dir string `json:"dir,omitempty"`
	// Status is empty until the run has ended, then valid, invalid, interrupted, imported if another
	// tool made it, or failed if no run was made (see Error).
	Status string `json:"status,omitempty" jsonschema:"enum=valid,enum=invalid,enum=interrupted,enum=imported,enum=failed"`
	Error  string `json:"error,omitempty"`
}

// Done reports whether the run was completed: valid, invalid, or imported.
func (r CampaignRun) Done() bool {
	return r.Status == Valid || r.Status == Invalid || r.Status == Unchecked
}

// Made returns the number of runs that are done.
func (c *Campaign) Made() (n int) {
	for _, run := range c.Runs {
		if run.Done() {
			n++
		}
	}
	return n
}

// Finished reports whether all planned runs were made.
func (c *Campaign) Finished() bool { return !c.Campaign.FinishedAt.IsZero() }

// RunDir returns the folder of Runs[place], for a campaign that was read from dir.
func (c *Campaign) RunDir(dir string, place int) string { return path.Join(dir, c.Runs[place].Dir) }

// Beside returns the CampaignRun.Dir of a run next to the campaign's folder.
func Beside(runDir string) string { return path.Join("..", filepath.Base(runDir)) }
