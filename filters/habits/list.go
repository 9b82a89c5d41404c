package habits

// The explicit lists of this package. Verdicts are reported in the order of All and Proofs, and
// samples store the results of counts by position. The version of stored samples depends on the
// names and the order of the counts.

// All is the list of habits, in the order of their verdicts.
var All = []Habit{
	deafThinking,
	fixedHabit,
	fixedPlan,
}

// Proofs is the list of proofs, in the order of their verdicts.
var Proofs = []Proof{
	answerTable,
	copiedDialogue,
	copiedLog,
	mixedDay,
	replayedText,
	scriptedAgent,
	toldAnswers,
	unseenMenu,
}

// ratioCounts are the counts of cases, and of those that have a property, in the order of
// Sample.Tallies.
var ratioCounts = []*Count{
	answerSearches,
	citingTurns,
	choicesAfterText,
	betterFits,
	rankOrderViews,
	firstCommitted,
	mixedAttempts,
	firstCallsSent,
	ungroundedNumbers,
	unseenItems,
	prescientAttempts,
	orderedSearches,
	namedRequests,
	shortenedSearches,
}

// modeCounts are the counts of cases, and of those with the most frequent value of their group, in
// the order of Sample.Marks.
var modeCounts = []*Count{
	toolSequences,
	requestSequences,
	viewBreadths,
	searchForms,
	menuLabels,
}
