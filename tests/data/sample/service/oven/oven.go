// Package oven talks to the ovens of the bakery.
package oven

import "errors"

// ErrCold is returned while the oven is still cold.
var ErrCold = errors.New("oven is cold")

// Oven is one oven.
type Oven struct {
	Temperature int
	busy        bool
}

// Preheat warms the oven up to a temperature in degrees Celsius.
func (o *Oven) Preheat(degrees int) error {
	if degrees > 300 {
		return errors.New("too hot")
	}
	o.Temperature = degrees
	return nil
}

// Bake puts dough into the oven.
func (o *Oven) Bake(minutes int) error {
	if o.Temperature < 180 {
		return ErrCold
	}
	o.busy = true
	return nil
}
