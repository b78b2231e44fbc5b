// Package cart adds up what somebody wants to buy.
package cart

import "example.org/shop/price"

// Cart holds amounts by name.
type Cart map[string]string

// Total is the sum of all amounts.
func (c Cart) Total() (string, error) {
	var sum int64
	for _, text := range c {
		cents, err := price.Parse(text)
		if err != nil {
			return "", err
		}
		sum += cents
	}
	return price.Format(sum), nil
}
