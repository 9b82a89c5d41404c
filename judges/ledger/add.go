package ledger

import "fmt"

// pending is an exchange on its way to the disk.
type pending struct {
	exchange Exchange
	row      int64
	recorded bool
	err      error
}

// Add records an exchange durably before it returns.
func (l *Ledger) Add(e Exchange) error {
	p := &pending{exchange: e}
	l.queueing.Lock()
	l.queue = append(l.queue, p)
	l.queueing.Unlock()

	l.writing.Lock()
	defer l.writing.Unlock()
	if !p.recorded && p.err == nil {
		l.record()
	}
	return p.err
}

// record writes everything that waits.
func (l *Ledger) record() {
	l.queueing.Lock()
	batch := l.queue
	l.queue = nil
	l.queueing.Unlock()

	s, err := l.writable()
	if err == nil {
		err = s.insert(batch)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range batch {
		if err != nil {
			p.err = fmt.Errorf("record exchange: %w", err)
			continue
		}
		p.recorded = true
		l.note(p.exchange, place{s, p.row, false})
	}
}

// writable is this process's segment, a new one where the last is full.
func (l *Ledger) writable() (*segment, error) {
	l.mu.Lock()
	s := l.own
	l.mu.Unlock()
	if s != nil && s.rows < sealEvery {
		return s, nil
	}
	if s != nil {
		if err := l.retire(s); err != nil {
			return nil, fmt.Errorf("seal segment: %w", err)
		}
	}
	fresh, err := create(l.dir)
	if err != nil {
		return nil, fmt.Errorf("create segment: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own = fresh
	return fresh, nil
}

// retire seals a full segment. Nobody may read it meanwhile.
func (l *Ledger) retire(s *segment) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := s.seal(); err != nil {
		return err
	}
	l.read, l.own = append(l.read, s), nil
	return nil
}
