package transcript

import (
	"testing"
	"time"
)

func TestLegacyQuotaNotice(t *testing.T) {
	l, _ := ParseRecord([]byte(`{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"Claude AI usage limit reached|1762952400"}]}}`))
	q := quotaOf(&l)
	if q == nil || !q.Resets.Equal(time.Unix(1762952400, 0)) || !q.Reached {
		t.Errorf("%+v", q)
	}
}
