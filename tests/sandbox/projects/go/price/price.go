// Package price reads and writes amounts of money in cents.
package price

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ErrFormat is returned for text that is not an amount.
var ErrFormat = errors.New("price: not an amount")

// Parse reads "12.30", "12.3" or "12".
func Parse(text string) (int64, error) {
	whole, fraction, found := strings.Cut(strings.TrimSpace(text), ".")
	if found && (fraction == "" || len(fraction) > 2) {
		return 0, ErrFormat
	}
	euros, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || euros < 0 {
		return 0, ErrFormat
	}
	if fraction == "" {
		return euros * 100, nil
	}
	cents, err := strconv.ParseUint(fraction, 10, 8)
	if err != nil {
		return 0, ErrFormat
	}
	return euros*100 + int64(cents), nil
}

// Format writes an amount with two decimals.
func Format(cents int64) string {
	return fmt.Sprintf("%d.%02d", cents/100, cents%100)
}
