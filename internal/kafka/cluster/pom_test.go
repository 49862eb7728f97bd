package cluster

import "testing"

// TestAnotherPomIsAnotherFolder: jars of two poms never meet in one folder.
func TestAnotherPomIsAnotherFolder(t *testing.T) {
	h, pom := Home{Dist: t.TempDir()}, pomXML
	before := h.dist()
	pomXML = append([]byte("<!-- another -->"), pom...)
	defer func() { pomXML = pom }()
	if after := h.dist(); after.Dir == before.Dir {
		t.Errorf("both poms have %s", after.Dir)
	}
}
