package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
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

// errNoRotation says that a file is something other than a rotation.
var errNoRotation = errors.New("file is no bank rotation")

// ReadRotation reads a rotation file strictly.
func ReadRotation(path string) (*Rotation, error) {
	r, err := readRotationFile(path)
	if err != nil {
		return nil, fmt.Errorf("read bank rotation: %w", err)
	}
	return r, nil
}

func readRotationFile(path string) (*Rotation, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxStateBytes {
		return nil, errNoRotation
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var head struct {
		Schema string `json:"schema"`
	}
	if json.Unmarshal(b, &head) != nil || !strings.HasPrefix(head.Schema, "arena.rotation.") {
		return nil, errNoRotation
	}
	return decodeRotation(b)
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
