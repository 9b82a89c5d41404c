package race

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/trajectory-arena/arena/internal/slicesx"
)

// cooldown is the minimum time between two submissions of agents by one hotkey (account of a
// miner).
const cooldown = 12 * time.Hour

// Version is the API's answer about one version of an agent.
type Version struct {
	Agent     string     `json:"agent_version_id"`
	Hotkey    string     `json:"miner_hotkey"`
	Submitted *time.Time `json:"submitted_at"`
	// Available is the time at which the version's code becomes public.
	Available *time.Time `json:"code_available_at"`
}

// past is an earlier race (contest of agents) in the API's list: its id, number, time of completion
// and winner.
type past struct {
	ID        string     `json:"race_id"`
	Number    *int       `json:"race_number"`
	Completed *time.Time `json:"race_completed_at"`
	Winner    string     `json:"winner_agent_version_id"`
}

// checkSchedule checks the times of the race by the subnet's rules: the time between an account's
// submissions, one race a day, the previous winner's place in the race, and when the winner's code
// becomes public.
func (d *Document) checkSchedule() []Finding {
	return []Finding{
		d.checkCooldown(),
		d.checkPromotionDay(),
		d.checkIncumbent(),
		d.checkEmbargo(),
	}
}

// checkCooldown checks that the time between any two submissions of one hotkey (account of a miner)
// is at least cooldown.
func (d *Document) checkCooldown() Finding {
	versions := slices.DeleteFunc(slices.Clone(d.Versions), func(v Version) bool {
		return v.Submitted == nil || v.Hotkey == ""
	})
	slicesx.SortFunc(versions, func(a, b Version) int {
		return cmp.Or(cmp.Compare(a.Hotkey, b.Hotkey), a.Submitted.Compare(*b.Submitted))
	})
	pairs := 0
	for i := 1; i < len(versions); i++ {
		before := versions[i-1]
		v := versions[i]
		if before.Hotkey != v.Hotkey || before.Agent == v.Agent {
			continue
		}
		pairs++
		if apart := v.Submitted.Sub(*before.Submitted); apart < cooldown {
			return Finding{"cooldown", Wrong, fmt.Sprintf("%s submitted %s and %s, %s apart", v.Hotkey, before.Agent, v.Agent, apart)}
		}
	}
	if pairs == 0 {
		return Finding{"cooldown", Unknown, "no hotkey has two versions here"}
	}
	return Finding{"cooldown", OK, fmt.Sprintf("%d pairs of submissions, each %s apart or more", pairs, cooldown)}
}

// checkPromotionDay checks that no other race was completed on the same day (UTC), since the subnet
// declares a winner at most once a day. That no race was is known only from all past races.
func (d *Document) checkPromotionDay() Finding {
	completed := d.Detail.Race.Completed
	if completed == nil {
		return Finding{"promotion_day", Unknown, "no time of completion"}
	}
	day := completed.UTC().Format(time.DateOnly)
	hasRace := false
	for _, p := range d.History {
		switch {
		case p.ID == d.Detail.Race.ID:
			hasRace = true
		case p.Completed != nil && p.Completed.UTC().Format(time.DateOnly) == day:
			return Finding{"promotion_day", Wrong, fmt.Sprintf("race %s was completed on %s as well", p.ID, day)}
		}
	}
	if !hasRace || len(d.History) != d.HistoryTotal {
		return Finding{"promotion_day", Unknown, "the history is not known to have all races"}
	}
	return Finding{"promotion_day", OK, day}
}

// incumbent is the value of the API's field qualification_type for the agent that won the previous
// race and therefore takes part.
const incumbent = "INCUMBENT"

// checkIncumbent checks that the agent that takes part as the incumbent (the previous winner) is
// the winner of the previous race.
func (d *Document) checkIncumbent() Finding {
	number := d.Detail.Race.Number
	i := slices.IndexFunc(d.History, func(p past) bool {
		return number != nil && p.Number != nil && *p.Number == *number-1
	})
	if i < 0 || d.History[i].Winner == "" {
		return Finding{"promoted", Unknown, "the history does not have the winner of the race before"}
	}
	var found []string
	for _, q := range d.Detail.Qualifiers {
		if q.Type == incumbent {
			found = append(found, q.Agent)
		}
	}
	winner := d.History[i].Winner
	return newFinding("promoted", slices.Contains(found, winner), fmt.Sprintf("the race before was won by %s; incumbents are %q", winner, found))
}

// checkEmbargo checks that the winner's code becomes public no earlier than on the next weekday
// (UTC) after the race.
func (d *Document) checkEmbargo() Finding {
	completed := d.Detail.Race.Completed
	v := d.version(d.Detail.Race.Winner)
	if completed == nil || v == nil || v.Available == nil {
		return Finding{"embargo", Unknown, "no time of completion, or none at which the winner's code becomes public"}
	}
	earliest := nextWeekday(*completed)
	return newFinding("embargo", !v.Available.Before(earliest), fmt.Sprintf("public from %s, at the earliest %s", stamp(*v.Available), stamp(earliest)))
}

// nextWeekday returns the start of the first day from Monday to Friday after the day of t (UTC).
func nextWeekday(t time.Time) time.Time {
	next := t.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)
	for next.Weekday() == time.Saturday || next.Weekday() == time.Sunday {
		next = next.AddDate(0, 0, 1)
	}
	return next
}

// version returns the entry of an agent version in the document, nil if there is none.
func (d *Document) version(id string) *Version {
	i := slices.IndexFunc(d.Versions, func(v Version) bool {
		return v.Agent == id
	})
	if i < 0 {
		return nil
	}
	return &d.Versions[i]
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// CheckCorpus checks that a corpus belongs to the race: each of its attempts must be from a run
// of the race, and each included run must have attempts. attempts counts the corpus's attempts
// by run.
func (d *Document) CheckCorpus(attempts map[string]int) []Finding {
	runs := map[string]bool{}
	var lost []string
	for _, r := range d.Runs {
		if r.RaceID != d.Detail.Race.ID || r.ID == "" {
			continue
		}
		runs[r.ID] = true
		if r.Included && attempts[r.ID] == 0 {
			lost = append(lost, r.ID)
		}
	}
	if len(runs) == 0 {
		return []Finding{{"corpus", Unknown, "the document names no run of the race"}}
	}
	own := 0
	others := 0
	for id, n := range attempts {
		if runs[id] {
			own += n
		} else {
			others += n
		}
	}
	detail := fmt.Sprintf("%d attempts are of the race, %d of other runs", own, others)
	missing := fmt.Sprintf("%d runs that count have no attempt", len(lost))
	if len(lost) > 0 {
		missing += ", first " + lost[0]
	}
	return []Finding{
		newFinding("corpus_of_race", own > 0 && others == 0, detail),
		newFinding("race_in_corpus", len(lost) == 0, missing),
	}
}
