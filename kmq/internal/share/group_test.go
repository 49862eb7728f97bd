package share

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestASessionOutlastsHeartbeats(t *testing.T) {
	for _, c := range []struct {
		asked         time.Duration
		leastBeat     string
		session, beat string // milliseconds; empty: not set
	}{
		{0, "100", "", ""},
		{time.Second, "100", "3000", "1000"},
		{6 * time.Second, "100", "6000", "2000"},
		{6 * time.Second, "5000", "15000", "5000"},
		{time.Hour, "100", "60000", "15000"},
	} {
		t.Run(c.asked.String()+", "+c.leastBeat, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, 1)
				w.allow(map[string]string{
					"group.share.min.session.timeout.ms": "1000", "group.share.min.heartbeat.interval.ms": c.leastBeat,
				})
				cfg := w.config()
				cfg.SessionTimeout = c.asked
				w.open(cfg)
				group, err := describe(t.Context(), w.client, kmsg.ConfigResourceTypeGroupConfig, cfg.Group)
				must(t, err)
				session, beat := group.value[sessionOfGroup.name], group.value[beatOfGroup.name]
				if session != c.session || beat != c.beat {
					t.Errorf("a session of %q ms, a heartbeat each %q ms; want %q and %q", session, beat, c.session, c.beat)
				}
			})
		})
	}
}

// The fake cluster does not have these settings.
func (w *world) allow(configs map[string]string) {
	w.cluster.Fake().ControlKey(int16(kmsg.DescribeConfigs), func(r kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.Fake().KeepControl()
		req := r.(*kmsg.DescribeConfigsRequest)
		if req.Resources[0].ResourceType != kmsg.ConfigResourceTypeBroker {
			return nil, nil, false
		}
		resp := req.ResponseKind().(*kmsg.DescribeConfigsResponse)
		told := kmsg.NewDescribeConfigsResponseResource()
		told.ResourceType, told.ResourceName = req.Resources[0].ResourceType, req.Resources[0].ResourceName
		for name, value := range configs {
			c := kmsg.NewDescribeConfigsResponseResourceConfig()
			c.Name, c.Value = name, &value
			told.Configs = append(told.Configs, c)
		}
		resp.Resources = append(resp.Resources, told)
		return resp, nil, true
	})
}
