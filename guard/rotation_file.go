package guard

import (
	"errors"
	"fmt"
	"strings"
)

// Encode returns the rotation as its file holds it.
func (r *Rotation) Encode() ([]byte, error) {
	r.Schema = RotationSchema
	return encoded("bank rotation", r)
}

// ReadRotation reads a rotation file strictly.
func ReadRotation(path string) (*Rotation, error) {
	b, schema, err := schemaOf(path)
	if err == nil && !strings.HasPrefix(schema, rotationFamily) {
		err = errors.New("file is no bank rotation")
	}
	if err != nil {
		return nil, fmt.Errorf("read bank rotation: %w", err)
	}
	r, err := decodeRotation(b)
	if err != nil {
		return nil, fmt.Errorf("read bank rotation: %w", err)
	}
	return r, nil
}

func decodeRotation(b []byte) (*Rotation, error) {
	r := &Rotation{}
	if err := decodeStrict(b, r); err != nil {
		return nil, err
	}
	if r.Schema != RotationSchema {
		return nil, fmt.Errorf("schema is %q: this version reads %q", r.Schema, RotationSchema)
	}
	for _, p := range r.Problems {
		if err := (Move{To: p.Stage, Date: p.Since, By: p.By}).Validate(); err != nil {
			return nil, fmt.Errorf("problem %q: %w", p.ID, err)
		}
	}
	return r, nil
}
