package result

// Method is the number of the method by which this version measures: what each
// figure of run.json means. It grows when a figure gets another definition, with a
// [METHOD] line in CHANGELOG.md. Fields keep their names, so that readers of
// run.json go on; but values of two methods are not to be mixed.
const Method = 2

// Method is the method that measured the run: 1 for runs from before methods had
// numbers, and 0 for one of another tool, which has none of ours.
func (r *Run) Method() int {
	if r.Run.Imported != nil {
		return 0
	}
	return max(1, r.Run.MethodVersion)
}
