package pipeline

import (
	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/domain"
	"github.com/trajectory-arena/arena/filters"
	"github.com/trajectory-arena/arena/guard"
	"github.com/trajectory-arena/arena/internal/slicesx"
	"github.com/trajectory-arena/arena/judges"
	"github.com/trajectory-arena/arena/pipeline/block"
)

// runDomain is a domain (a kind of task, such as coding) with the filters and the measuring
// instruments, such as the judge, that a run uses for attempts of this domain.
type runDomain struct {
	*domain.Domain
	// on has true for the instruments that are on, by name.
	on map[string]bool
	// judge is the judge of attempts, and judgeName its versioned name.
	judge     judges.Judge
	judgeName string
	// steps is the judge of steps, and stepsName its versioned name.
	steps     judges.StepJudge
	stepsName string
	// logged is the filter for attempts of which a gateway (a proxy between agent and model) kept a
	// log, unlogged that for the others.
	logged   *filters.Filter
	unlogged *filters.Filter
}

// filter returns the filter for an attempt of the domain: d.logged if the attempt has a proxy log
// (the record of its requests), otherwise d.unlogged.
func (d *runDomain) filter(isLogged bool) *filters.Filter {
	if isLogged {
		return d.logged
	}
	return d.unlogged
}

// adaptivity returns the formula of adaptivity in the domain, "" if adaptivity is off there.
func (d *runDomain) adaptivity() string {
	if !d.on[domain.Adaptivity] {
		return ""
	}
	return d.Adaptivity
}

// newDomains returns every domain that an attempt of the run can have, by name. base is the filter
// from which the filters of the domains are made.
func (r *Run) newDomains(base *filters.Filter) map[string]*runDomain {
	out := map[string]*runDomain{}
	for _, name := range r.Domains.Names() {
		d := &runDomain{Domain: r.Domains.ByName(name), on: map[string]bool{}}
		d.judge, d.judgeName = judges.JudgeIn(d.Domain, r.Judge, r.Instruments.Judge.Name)
		d.steps, d.stepsName = judges.StepsIn(d.Domain, r.StepJudge, r.Instruments.StepJudge.Name)
		for instrument, version := range r.versions(d) {
			d.on[instrument] = r.isOn(d.Domain, instrument, version)
		}
		adaptivity := d.on[domain.Adaptivity]
		d.logged = base.For(d.Domain, true, adaptivity)
		d.unlogged = base.For(d.Domain, false, adaptivity)
		out[name] = d
	}
	return out
}

// versions returns the version of each measuring instrument of the run in a domain, such as the
// judge, by the instrument's name.
func (r *Run) versions(d *runDomain) map[string]string {
	return map[string]string{
		domain.Judge:      d.judgeName,
		domain.Steps:      d.stepsName,
		domain.Adaptivity: d.Adaptivity,
		domain.Rewordings: guard.RewordingsIn(d.Domain),
	}
}

// isOn reports whether a measuring instrument, such as the judge, is used on attempts of a domain
// (a kind of task). A setting of the configuration for this instrument decides. Without one, the
// instrument is used if the user chose it by a flag, or if its quality was measured on the domain
// in this version.
func (r *Run) isOn(d *domain.Domain, instrument, version string) bool {
	switch r.Config.Instrument[instrument] {
	case InstrumentOn:
		return true
	case InstrumentOff:
		return false
	}
	return r.Instruments.isChosen(instrument) || d.On(instrument, version)
}

// fallbackDomain returns the name of the domain (kind of task) that is assigned to attempts that
// fit none: the subnet's domain if the input has a problems file, otherwise base.
func (s *session) fallbackDomain() string {
	if len(s.day.Problems.All) > s.day.derived {
		return domain.Shop
	}
	return domain.Base
}

// filterOf returns the filter for the attempt whose stored results are x.
func (s *session) filterOf(x *block.Entry) *filters.Filter {
	return s.domains[x.Domain].filter(x.Logged)
}

// manifestDomains returns, for the manifest, the domains (kinds of task) of a plan's attempts in
// order of name, each with its number of attempts and the measuring instruments that were off.
func (s *session) manifestDomains(p *plan) []corpus.Domain {
	var out []corpus.Domain
	for _, name := range slicesx.SortedKeys(p.Domains) {
		d := s.domains[name]
		entry := corpus.NewDomain(d.Domain, p.Domains[name].Attempts)
		for _, instrument := range domain.Instruments {
			if !d.on[instrument] {
				entry.NotMeasured = append(entry.NotMeasured, instrument)
			}
		}
		out = append(out, entry)
	}
	return out
}
