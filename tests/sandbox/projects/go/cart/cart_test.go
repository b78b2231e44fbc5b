package cart

import "testing"

func TestTotal(t *testing.T) {
	got, err := Cart{"tea": "2.50", "cup": "4"}.Total()
	if err != nil || got != "6.50" {
		t.Fatalf("Total() = %q, %v", got, err)
	}
}
