//go:build full

package fleet_test

import "testing"

func TestAgentsShareAnyQueue(t *testing.T) {
	shareAQueue(t, []queueCase{
		{"plain", "", paced, "plain", ""},
		{"markers", "", paced, "markers", ""},
		{"markers with one tracker", "", paced, "markers", ", tracker: external"},
		{"redelivered", "", paced, "offsetmap", ", drop: {share: 50%, how: nack}"},
		{"dead letters", "", paced, "offsetmap", ", drop: {share: 50%, how: nack}, max_deliveries: 3"},
		{"worked off", filled, readers, "offsetmap", ""},
	})
}
