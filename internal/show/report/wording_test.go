package report

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func TestEveryRuleHasASentence(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../analysis/rules.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	rules := map[analysis.Rule]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if of, ok := spec.Type.(*ast.Ident); ok && of.Name == "Rule" {
			rule, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			rules[analysis.Rule(rule)] = true
		}
		return true
	})
	for rule := range rules {
		if wording[rule] == nil {
			t.Errorf("the rule %s has no sentence", rule)
		}
	}
	if len(rules) == 0 || len(rules) != len(wording) {
		t.Errorf("there are %d rules and %d sentences", len(rules), len(wording))
	}
}
