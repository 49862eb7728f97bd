package report

import "kafkabench.example/kafka-bench/internal/show/analysis"

// unsettledNote warns of the split between failed and unknown where several clients ran:
// how much each tells of a record that it gave up is its own (docs/DRIVERS.md).
func unsettledNote(d *analysis.Study) []string {
	clients := map[string]bool{}
	var unsettled int64
	for _, cell := range d.Cells {
		for _, r := range cell.Sample.Taken {
			clients[r.Run.Run.Driver.Name] = true
			unsettled += r.Run.Load.Failed + r.Run.Load.Unknown
		}
	}
	if len(clients) < 2 || unsettled == 0 {
		return nil
	}
	return []string{"Compare failed and unknown together between clients, not each by itself: a client that does not tell whether a record had left it has it unknown where another has it failed."}
}
