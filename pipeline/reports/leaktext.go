package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/trajectory-arena/arena/corpus"
	"github.com/trajectory-arena/arena/guard"
)

// Text returns the text of the dataset card. shares and seed are the parameters of the split.
func (r *Leak) Text(shares guard.Shares, seed uint64) string {
	var b strings.Builder
	b.WriteString(r.splitText(shares, seed))
	b.WriteString(r.attemptsText())
	b.WriteString(r.tiersText())
	b.WriteString(falseDropsText(&r.Guard.FalseDrops))
	b.WriteString(honestText(r.Guard.Honest))
	b.WriteString(findingsText(r.Guard))
	b.WriteString("\nTo test the guard, the build changed protected requests in these ways, planted them in rows, and counted those that the guard found. A build fails if a recall is below its minimum.\n\n")
	kinds := slices.Clone(r.Guard.Injection.Kinds)
	if r.Guard.Literal > 0 {
		kinds = slices.DeleteFunc(kinds, func(k guard.InjectionRecall) bool { return k.Planted == 0 })
	}
	b.WriteString(corpus.Table("kind | planted: | found: | recall: | 95 % interval | minimum:", kinds, func(k guard.InjectionRecall) string {
		return fmt.Sprintf(
			"%s | %d | %d | %.3f | %.3f to %.3f | %.2f",
			k.Kind,
			k.Planted,
			k.Found,
			k.Recall,
			k.Low,
			k.High,
			k.Floor,
		)
	}))
	b.WriteString(nearestText(r.Guard))
	return b.String()
}

// splitText returns the dataset card's paragraph on how many problems, and groups of similar ones,
// are in each pool (train, eval, held-out, never-touch). shares and seed are the parameters by
// which they were divided.
func (r *Leak) splitText(shares guard.Shares, seed uint64) string {
	var b strings.Builder
	shared := "a gold item or a request"
	audit := " No item is a gold item in two pools."
	if !r.HasItems {
		shared = "a request"
		audit = ""
	}
	fmt.Fprintf(&b, `Problems that share %s form a cluster, and each cluster is in one pool only: %d clusters (%d problems) are in
train, %d (%d) in eval, and %d (%d) are never touched. Problems with equal texts count once. The shares are %.3g for eval and %.3g for never-touch, with seed %d; bank.json keeps the pools.%s
`, shared, r.Clusters[guard.PoolTrain], r.Problems[guard.PoolTrain], r.Clusters[guard.PoolEval], r.Problems[guard.PoolEval],
		r.Clusters[guard.PoolNeverTouch], r.Problems[guard.PoolNeverTouch], shares.Eval, shares.NeverTouch, seed, audit)
	if n := r.Clusters[guard.PoolHeldOut]; n > 0 {
		fmt.Fprintf(&b, "%d further clusters (%d problems) are in no split, because they are held out: the problems of the held-out files of this build and of earlier ones, with all problems that share %s with them.\n", n, r.Problems[guard.PoolHeldOut], shared)
	}
	if len(r.Released) > 0 {
		fmt.Fprintf(
			&b,
			"**%d problems were held out before and have been released by name: %s.** Earlier measurements on them say nothing about a model that is trained on this corpus.\n",
			len(r.Released),
			corpus.EscapeCell(strings.Join(r.Released, ", ")),
		)
	}
	return b.String()
}

// tiersText returns the dataset card's paragraphs on the limits of the guard's comparison in this
// build: what the methods that ran cannot find, and a requested method that did not run. It returns
// "" if there is nothing to mention.
func (r *Leak) tiersText() string {
	var b strings.Builder
	if n := r.Guard.Literal; n > 0 {
		fmt.Fprintf(&b, "%d of the protected problems belong to domains on which the detector of reworded requests was not measured (not_measured). For them the guard finds only texts that are equal, equal after normalisation, or that share runs of eight words with the request, also if these are spread over several messages.\n\n", n)
	}
	hasLexical := slices.Contains(r.Guard.Ran, guard.TierLexical)
	if hasLexical && !slices.Contains(r.Guard.Ran, guard.TierEmbedding) {
		b.WriteString("The lexical tier reads English. It knows some 270 words of Spanish, German, Indonesian, Tagalog and Chinese, and only numbers and names of other languages. It found 14 of 29 translations by other authors, some of them by their numbers alone. The embedding tier, which reads the languages of its model, did not run (--embeddings URL --embeddings-for guard).\n\n")
	}
	if r.Guard.NotRun != "" {
		fmt.Fprintf(&b, "A requested tier did not run (%s).\n\n", corpus.EscapeCell(r.Guard.NotRun))
	}
	return b.String()
}

// attemptsText returns the dataset card's sentences on how many attempts were compared with
// protected problems, and how many were dropped for it.
func (r *Leak) attemptsText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d attempts were compared with %d protected problems", r.Guard.Rows, r.Guard.Protected())
	if r.Outside == 0 && r.Clusters[guard.PoolHeldOut] == 0 {
		b.WriteString(" (no public bank was given: only the day's own eval and never-touch clusters)")
	} else if r.Outside > 0 {
		fmt.Fprintf(&b, " (%d of them from held-out files)", r.Outside)
	}
	fmt.Fprintf(&b, ". %d were dropped; the funnel counts only those that no earlier stage had dropped", len(r.Guard.Dropped))
	if slices.Contains(r.Guard.Ran, guard.TierLexical) {
		fmt.Fprintf(&b, ". The lexical tier could not read %d", r.Guard.Unreadable)
	}
	b.WriteString(". As a first test, the guard was given a protected request, and a protected id if there is one, and found them.\n\n")
	return b.String()
}

// falseDropsText returns the dataset card's sentence on how many rows the guard is estimated to
// drop wrongly, as a share of the rows that repeat no protected problem. It returns "" if this was
// not measured.
func falseDropsText(f *guard.FalseDrops) string {
	if f.Held == 0 {
		return ""
	}
	raised := ""
	if f.Limit > 0 {
		raised = fmt.Sprintf(". The threshold rises with the bank to keep this share below %.1f %%", 100*f.Limit)
	}
	return fmt.Sprintf("Estimated share of harmless rows that are lost: %.1f %% (95 %% interval %.1f to %.1f), for rows that resemble these problems. It was measured by checking each protected request against the others: %d of %d would be dropped because of a different request%s (guard.max_false; guard.same_only keeps near misses).\n\n",
		100*f.Share, 100*f.Low, 100*f.High, f.Dropped, f.Held, raised)
}

// honestText returns the dataset card's sentence on how many of a fixed list of requests that
// repeat no protected problem the guard wrongly drops. It returns "" if this was not measured.
func honestText(h *guard.HonestReport) string {
	if h == nil || h.Requests == 0 {
		return ""
	}
	return fmt.Sprintf("The project has %d harmless requests that ask for none of these problems. The guard drops %d of them: %.1f %% (95 %% interval %.1f to %.1f), %d of them as the same request.\n\n",
		h.Requests, h.Dropped, 100*h.Share, 100*h.Low, 100*h.High, h.Same)
}

// nearestText returns the dataset card's table of those kept attempts that are most similar to a
// protected request. It returns "" if no attempt is similar to one.
func nearestText(g *guard.Report) string {
	if len(g.NearestKept) == 0 {
		return ""
	}
	return fmt.Sprintf("\nThe %d kept attempts that are most similar to a protected request. A person should read them (`arena explain CORPUS ID`):\n\n", len(g.NearestKept)) +
		corpus.Table("attempt | nearest: | score:", g.NearestKept, func(row guard.KeptRow) string {
			return fmt.Sprintf("%s | %s | %.3f", corpus.EscapeCell(row.ID), corpus.EscapeCell(row.HeldOut), row.Score)
		})
}

// findingsText returns the dataset card's tables of the attempts in which the guard found protected
// problems: how many by list of problems and by method of comparison, and how many would be dropped
// at other thresholds.
func findingsText(g *guard.Report) string {
	tiers := ""
	thresholds := "threshold"
	drops := "attempts"
	for _, tier := range g.Ran {
		tiers += fmt.Sprintf("%s: | ", tier)
	}
	for _, point := range g.Curve {
		thresholds += fmt.Sprintf(" | %.3f:", point.Threshold)
		drops += fmt.Sprintf(" | %d", point.Rows)
	}
	intro := "Attempts that were found and dropped, by bank and tier:\n\n"
	curve := ""
	if slices.Contains(g.Ran, guard.TierLexical) {
		intro = fmt.Sprintf("Attempts that were found and dropped, by bank and tier. The column kept counts those that resemble a protected problem but stay below the threshold of %.3f.\n\n", g.Threshold)
		curve = " Other thresholds would drop:\n\n" + corpus.Table(thresholds, []string{drops}, func(row string) string { return row })
	}
	return intro +
		corpus.Table("bank | problems: | "+tiers+"kept: | nearest kept:", g.Banks, func(part guard.BankReport) string {
			counts := ""
			for _, tier := range g.Ran {
				counts += fmt.Sprintf("%d | ", part.Found[tier])
			}
			return fmt.Sprintf(
				"%s | %d | %s%d | %.3f",
				corpus.EscapeCell(part.Bank),
				part.Problems,
				counts,
				part.Kept,
				part.Nearest,
			)
		}) + "\nreports/leak.json lists every dropped attempt with the problem, the score, and the words and numbers that agree." + cmp.Or(curve, "\n")
}
