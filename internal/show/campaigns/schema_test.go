package campaigns_test

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func TestSchemas(t *testing.T) {
	showtest.Schema(t, campaigns.CampaignDocument{}, "report-campaign.schema.json", "report --format json of a campaign", "campaign.json")
}
