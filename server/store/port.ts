// The store's interface to the rest of the program. Changes are made inside a transaction that the
// caller opens, or that the durable engine opens for a commit, so that a checkpoint and its change
// are committed together.

import type { Kysely, Transaction } from 'kysely';
import type { EventView } from '../protocol/api.ts';
import type { NewEvent, StoreSources } from './feed/feed.ts';
import type { StoreTables } from './schema/tables.ts';
import type { Transition, TransitionOutcome } from './status/transition.ts';

export type * from './schema/tables.ts';
export type { StopKind } from './schema/column-values.ts';
export type { StoreSources } from './feed/feed.ts';
export type { TransitionSet } from './status/transition.ts';

/** Names of Kysely functions that start a query. */
type QueryWord =
  | 'selectFrom'
  | 'selectNoFrom'
  | 'insertInto'
  | 'replaceInto'
  | 'updateTable'
  | 'deleteFrom'
  | 'mergeInto'
  | 'with'
  | 'withRecursive'
  | 'withTables'
  | 'executeQuery'
  | 'connection'
  | 'transaction'
  | 'startTransaction'
  | 'schema'
  | 'fn'
  | 'case';

/**
 * Only the store may query tables. For other code, a query on a handle that the store returns does
 * not compile.
 */
type Closed<Database> = Database & { readonly [word in QueryWord]: never };

/** The database, for the store's functions that read. */
export type Reads = Closed<Kysely<StoreTables>>;
/** A transaction, for the store's functions. */
export type Tx = Closed<Transaction<StoreTables>>;

export interface Feed {
  read(options: {
    readonly after?: number;
    readonly type?: string;
    readonly task?: string;
    /** The person or machine in the event's actor. */
    readonly by?: string;
    readonly limit?: number;
  }): Promise<readonly EventView[]>;
  lastSeq(): Promise<number>;
  /**
   * Called after a commit when new events may exist; calls are coalesced. Returns a function that
   * unsubscribes.
   */
  onAppend(listener: () => void): () => void;
  /** Notifies the store that another component (the durable engine) has committed a transaction. */
  poke(): void;
}

export interface Store {
  readonly db: Reads;
  readonly sources: StoreSources;
  readonly feed: Feed;
  transaction<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  transition(tx: Tx, change: Transition): Promise<TransitionOutcome>;
  append(tx: Tx, event: NewEvent): Promise<void>;
}

export { chosenSnapshot } from './work/attempts.ts';
export { beginsFreely, failAttempt, goesOnAfter, type NextAgent } from './work/attempt-end.ts';
export {
  attemptsSince,
  claimTask,
  mustStayOnMachine,
  lastAttempt,
  readClaimedParts,
  setAttempt,
  unendedStates,
  type Claim,
} from './work/claims.ts';
export { startableTasks, type Startable } from './work/startable.ts';
export {
  candidateFacts,
  readCandidateTask,
  candidateNumbers,
  candidatesOf,
  isSpentCandidate,
  openCandidates,
  takeCandidate,
  waitsForCandidatesOnly,
  tasksWithCandidates,
} from './work/candidates.ts';
export { landedElsewhere } from './status/unlanded.ts';
export {
  agentsNamed,
  busyByRun,
  countHandedOver,
  countOnWorkers,
  countOwnedTasks,
  countReady,
  epicsOfOthers,
  lastStarts,
  linesOnTheWay,
  nextStartMs,
  ownedTasks,
  placesOfEpics,
  tasksOwnedByRuns,
  workersOfLargestRun,
} from './work/run-shares.ts';
export { askedToStop, askToStop } from './work/stop-requests.ts';
export {
  readAttempt,
  attemptOfOwner,
  attemptsOfAgents,
  baseOfAttemptBranch,
  basesByAttempt,
  basesOfTask,
  countFailedPlans,
  lastCommitBefore,
  newestUnendedMs,
  refsKeptWhenReturned,
} from './work/attempt-rows.ts';
export {
  beginApprovedLanding,
  endApprovedLanding,
  enterOwnedPhase,
  takeByHand,
} from './work/phases.ts';
export {
  askBaseGate,
  type BaseGateRow,
  commandVerdict,
  endBaseGate,
  gateVerdict,
  isLandedTip,
  keepGateVerdict,
  lastGateDurationMs,
  readPastGates,
  readBaseGate,
  tasksWithGate,
  waiveRedBase,
  writeBaseGate,
} from './work/gate-verdicts.ts';
export {
  approveEpicTree,
  endEpicLanding,
  holdsLandedWork,
  markEpicLanded,
  sendEpicBack,
} from './plan/epic-landing.ts';
export { countsInScope, movingInScope } from './work/scope.ts';
export type { Scope } from './rows/scope.ts';
export { epicsOfTasks, scopeOfRun, withBlockers } from './work/run-scope.ts';
export { flagsWithTasks, tasksOfRun, wholeRun, widenRun } from './work/runs.ts';
export { freshenBlocked, freshFields } from './status/fresh-start.ts';
export {
  endLanding,
  forgetLanding,
  hasMoreLandings,
  readLanding,
  recordNewLandedCommit,
  openLandings,
  queueLanding,
  takeLandings,
  takeMoreLandings,
} from './work/landings.ts';
export {
  allLines,
  droppedTips,
  holdLine,
  includeBranch,
  landOnLine,
  noteDropped,
  noteTried,
  readLine,
  recordLine,
  setPending,
  setWrongStates,
  type TriedMerge,
  triedMerge,
  wrongStates,
} from './lines/lines.ts';
export { isNotedTip, noteTip } from './lines/tips.ts';
export { approvedPlan, decidePlan, lastPlan, proposePlan } from './status/plans.ts';
export {
  epicsToStart,
  heldScopes,
  readHolds,
  setBlockCause,
  setHolds,
  tasksHeldBy,
  type Hold,
} from './status/holds.ts';
export {
  epicById,
  epicOrRefuse,
  existingTask,
  rootTasks,
  taskById,
  taskOrRefuse,
} from './rows/find-rows.ts';
export { inParts, textList } from './rows/one-moment.ts';
export {
  limitAccount,
  limitedAccounts,
  onWorkers,
  unusableAgents,
  type UnusableThere,
} from './work/accounts.ts';
export {
  interruptedElsewhere,
  type EndedAttempt,
  endedAttempts,
  forgetBranches,
  forgetProcess,
  type LeftAttempt,
} from './work/left-attempts.ts';
export { addRequest, type PlannedRequest, planRequests } from './forge/outbox.ts';
export { fixesOfPulls, stackLevels } from './forge/stack-levels.ts';
export { type EpicOnForge, epicOnForge } from './forge/pull-requests.ts';
export { setEpicLine } from './plan/epics.ts';
export {
  type AwaitedCommit,
  awaitedCommits,
  epicWaits,
  forgetArrival,
  noteArrivals,
  waitsForRuns,
} from './lines/arrivals.ts';
export { noteRunningGates } from './lines/running-gates.ts';
export {
  type ComparedAttempt,
  comparedAttempts,
  endForecast,
  type ForecastKey,
  readForecasts,
  recordForecast,
  type StoredForecast,
} from './plan/forecasts.ts';
export { editTask } from './plan/task-edit.ts';
export {
  addKeptRef,
  keptCommits,
  committedSubTasks,
  handOverWork,
  movePhase,
  notePlace,
  noteSubTaskCommit,
  recordUsage,
} from './work/owned-work.ts';
export {
  readBlockers,
  committedSince,
  completedInEpic,
  readNeighbors,
  othersInProgress,
  sameTitle,
  readSubTasks,
} from './plan/related-tasks.ts';
export {
  activeRunsIn,
  endRun,
  existingRun,
  flagsOfRun,
  insertRun,
  lastFinishedRun,
  newestRun,
  reactivateRun,
  runById,
  setResultBranch,
  stopActiveRun,
} from './work/runs.ts';
export {
  adoptPlaces,
  busyByMachine,
  databaseNowMs,
  type DrainOrder,
  type LiveMachine,
  liveMachines,
  machineName,
  nameOfMachine,
  markRemoteUnreachable,
  othersLand,
} from './fleet/machines.ts';
export { isDrained, type MachineWork, machineWork } from './fleet/machine-work.ts';
export { beginLander, endLander, readLander } from './fleet/line-landers.ts';
export { refreshReadiness } from './status/readiness.ts';
export { addTask, insertBlockers } from './plan/tasks.ts';
export {
  addSpending,
  readEarlierAnswers,
  busyAgents,
  pacedAccounts,
  readPace,
  setPace,
  spentByPart,
  spentByScope,
} from './work/spending.ts';
export {
  endAllUpkeep,
  endUpkeep,
  endUpkeepOfOthers,
  folderOfTask,
  forgetSlot,
  type HeldSlot,
  heldSlots,
  holdForUpkeep,
  isHeldForUpkeep,
  leaseSlot,
  releaseSlot,
  setSlotAside,
  slotsOfMachine,
} from './work/slots.ts';
export {
  addHint,
  allHints,
  askedInAttempt,
  askQuestion,
  endedQuestions,
  endQuestion,
  markHintDelivered,
  openHints,
  openQuestions,
  questionById,
  tasksWithOpenHints,
  withdrawQuestions,
} from './work/questions.ts';
export {
  addNote,
  countNotes,
  dropNote,
  keepNote,
  type NewNote,
  noteOrRefuse,
  type NoteRow,
  noteUses,
  readNotes,
} from './notes/notes.ts';
export {
  addReview,
  countSentBack,
  markSentBack,
  newestReview,
  overruleFinding,
  readTreeReview,
  type StoredReview,
} from './reviews/reviews.ts';
export { refusedPushes, refusedPushesMax } from './work/refused-pushes.ts';
export { readDependents, reopenEpic, readRootTasks } from './work/undo-rows.ts';
export {
  beginSubTask,
  taskAndSubTaskIds,
  noOwner,
  noStop,
  rootTaskId,
} from './status/transition.ts';
