package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Encode returns the rotation as its file holds it.
func (r *Rotation) Encode() ([]byte, error) {
	r.Schema = RotationSchema
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return nil, fmt.Errorf("encode bank rotation: %w", err)
	}
	return append(b, '\n'), nil
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
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	r := &Rotation{}
	if err := d.Decode(r); err != nil {
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
