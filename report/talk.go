package report

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/trajectory-arena/arena/internal/text"
)

// A page shows the beginning of a text and of a conversation; the run's log
// holds all of it.
const (
	maxText  = 1500
	maxLines = 60
	// maxEntry bounds what is read of one sample.
	maxEntry = 64 << 20
)

// readTalks reads conversations from the run's log: its entries are the
// samples in the order of the results, behind one that begins it.
func readTalks(path string, picks []pick) (talks []Talk, err error) {
	log, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("read inspect log: %w", err)
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, p := range picks {
		if p.at+1 >= len(log.File) {
			return nil, fmt.Errorf("read inspect log: sample %d is not in it", p.at)
		}
		talk, err := readTalk(log.File[p.at+1])
		if err != nil {
			return nil, fmt.Errorf("read inspect log: %w", err)
		}
		talk.Title = p.end + ": " + talk.Title
		talks = append(talks, talk)
	}
	return talks, nil
}

// spoken is a message of a sample.
type spoken struct {
	Role    string
	Content json.RawMessage
	Calls   []struct {
		Function  string
		Arguments json.RawMessage
		Fault     string `json:"parse_error"`
	} `json:"tool_calls"`
}

func readTalk(entry *zip.File) (Talk, error) {
	in, err := entry.Open()
	if err != nil {
		return Talk{}, err
	}
	var sample struct {
		ID       string
		Epoch    int
		Input    string
		Messages []spoken
	}
	err = json.NewDecoder(io.LimitReader(in, maxEntry)).Decode(&sample)
	if err = errors.Join(err, in.Close()); err != nil {
		return Talk{}, err
	}
	t := Talk{Title: fmt.Sprintf("%s, sample %d: %s", sample.ID, sample.Epoch-1, clip(sample.Input, 120))}
	for _, m := range sample.Messages {
		if m.Role == "system" {
			continue // the same in all, and in the spec
		}
		if len(t.Lines) >= maxLines {
			t.Lines = append(t.Lines, Line{"…", "the rest is in the log"})
			break
		}
		t.Lines = append(t.Lines, m.lines()...)
	}
	return t, nil
}

// lines are what a message holds, each kind with its own head.
func (m spoken) lines() (lines []Line) {
	add := func(who, text string) {
		if text != "" {
			lines = append(lines, Line{who, clip(text, maxText)})
		}
	}
	var text string
	var parts []struct{ Reasoning, Text string }
	if json.Unmarshal(m.Content, &text) == nil {
		add(m.Role, text)
	} else if json.Unmarshal(m.Content, &parts) == nil {
		for _, p := range parts {
			add("thought", p.Reasoning)
			add(m.Role, p.Text)
		}
	}
	for _, c := range m.Calls {
		add("call", strings.TrimSpace(c.Function+" "+string(c.Arguments)+" "+c.Fault))
	}
	return lines
}

// clip cuts a long text between two characters.
func clip(s string, most int) string {
	if c := text.ClipBytes(s, most); len(c) < len(s) {
		return c + " …"
	}
	return s
}
