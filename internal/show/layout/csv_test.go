package layout

import (
	"strings"
	"testing"
)

func TestCSVHasNoFormula(t *testing.T) {
	table := Table{Rows: [][]string{{"=cmd()", "+1+1", "-x", "@sum", "-5", "+2.5", "-1e3", "a=b", "", "\tx"}}}
	var b strings.Builder
	if err := table.CSV(&b); err != nil || b.String() != "'=cmd(),'+1+1,'-x,'@sum,-5,+2.5,-1e3,a=b,,'\tx\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}
