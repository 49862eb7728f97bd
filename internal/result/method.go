package result

// Method is the version of the definitions of all figures in run.json. It grows when a definition
// changes, with a line in the list of docs/method.md. Figures of different methods must not be combined.
const Method = 2

// Method returns the method that measured the run: 1 for runs before methods had numbers, 0 for an
// imported run.
func (r *Run) Method() int {
	if r.Run.Imported != nil {
		return 0
	}
	return max(1, r.Run.MethodVersion)
}
