package sandbar

import (
	"errors"
	"sync"
	"testing"

	"github.com/sandbar-dev/sandbar/engine"
	"github.com/sandbar-dev/sandbar/native"
)

// There is one driver a backend, whoever asks first.
func TestDrivers_Shared(t *testing.T) {
	var d drivers
	made := make([]*native.Driver, 8)
	var wg sync.WaitGroup
	for i := range made {
		wg.Go(func() {
			var err error
			if made[i], err = d.native([]Backend{"", Bubblewrap}[i%2]); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, m := range made {
		if m == nil || m != made[0] {
			t.Errorf("drivers %v", made)
			break
		}
	}
	other, err := d.native(Userns)
	if err != nil || other == made[0] {
		t.Errorf("another backend has the driver %p, %v", other, err)
	}
	for range 2 {
		if _, err := d.native("chroot"); !errors.Is(err, engine.ErrInvalid) {
			t.Errorf("native = %v", err)
		}
	}
	if len(d.backends) != 2 {
		t.Errorf("%d drivers are kept", len(d.backends))
	}
}
