package childenv

import (
	"slices"
	"testing"
)

func TestOnlyNamedVariables(t *testing.T) {
	t.Setenv("KAFKA_PASSWORD", "canary")
	t.Setenv("PATH_OF_SECRETS", "canary")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "canary")
	t.Setenv("PATH", "/bin")
	t.Setenv("LC_ALL", "C")
	for name, got := range map[string][]string{"Java": Java("AWS_*"), "Program": Program("AWS_*")} {
		for variable, want := range map[string]bool{
			"KAFKA_PASSWORD=canary": false, "PATH_OF_SECRETS=canary": false, "AWS_SECRET_ACCESS_KEY=canary": true,
			"PATH=/bin": true, "LC_ALL=C": true,
		} {
			if slices.Contains(got, variable) != want {
				t.Errorf("%s: that %s is in it is not %v:\n%v", name, variable, want, got)
			}
		}
	}
	if slices.Contains(Java(), "AWS_SECRET_ACCESS_KEY=canary") || slices.Contains(Program(), "AWS_SECRET_ACCESS_KEY=canary") {
		t.Error("a variable is passed that nobody named")
	}
}
