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

// ratioCounts are the counts for which each attempt has a number of cases and a number of those
// with a property, such as searches that copy the request. Their order is that of Sample.Tallies,
// which has these numbers.
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

// modeCounts are the counts of cases that follow the agent's most frequent behaviour, such as its
// usual sequence of tools. Their order is that of Sample.Marks, which has the cases of each
// attempt.
var modeCounts = []*Count{
	toolSequences,
	requestSequences,
	viewBreadths,
	searchForms,
	menuLabels,
}
