// What the rest of the program asks of the store. Changes happen inside a transaction that the caller opens (or that
// the durable engine opens for a commit), so that a checkpoint and its change are one.

import type { Kysely } from 'kysely';
import type { EventView } from '../protocol/api.ts';
import type { NewEvent, StoreSources } from './feed.ts';
import type { StoreTables, Tx } from './tables.ts';
import type { Transition, TransitionOutcome } from './transition.ts';

export type * from './tables.ts';
export type { NewEvent, StoreSources } from './feed.ts';
export type { Transition, TransitionOutcome, TransitionSet } from './transition.ts';

export interface Feed {
  read(options: {
    readonly after?: number;
    readonly type?: string;
    readonly task?: string;
    readonly limit?: number;
  }): Promise<readonly EventView[]>;
  lastSeq(): Promise<number>;
  /** Called (coalesced, after commit) when there may be new events; returns unsubscribe. */
  onAppend(listener: () => void): () => void;
  /** Says that a transaction of somebody else's (the durable engine's) has committed. */
  poke(): void;
}

export interface Store {
  readonly db: Kysely<StoreTables>;
  readonly sources: StoreSources;
  readonly feed: Feed;
  transaction<T>(body: (tx: Tx) => Promise<T>): Promise<T>;
  transition(tx: Tx, change: Transition): Promise<TransitionOutcome>;
  append(tx: Tx, event: NewEvent): Promise<number>;
}

export { chosenSnapshot } from './attempts.ts';
export { beginsFreely, failAttempt, goesOnAfter, type NextAgent } from './attempt-end.ts';
export {
  attemptsSince,
  claimTask,
  isBound,
  isUnblocked,
  lastAttempt,
  partsOf,
  setAttempt,
  startCandidates,
  unendedStates,
  type Candidate,
  type Claim,
} from './claims.ts';
export {
  candidateFacts,
  candidateOf,
  candidatesOf,
  isSpentCandidate,
  openCandidates,
  takeCandidate,
} from './candidates.ts';
export { landedElsewhere, type LandedElsewhere } from './unlanded.ts';
export { activeRunsIn, busyByRun, epicsOfOthers, lastStarts } from './run-shares.ts';
export {
  endLanding,
  landOnLine,
  queuedLandings,
  queueLanding,
  readLine,
  takeLandings,
  writeLine,
  type LineState,
} from './landings.ts';
export { droppedTips, holdLine, isNotedTip, noteDropped, noteTip } from './line-tips.ts';
export {
  approvedPlan,
  decidePlan,
  dropPlans,
  lastPlan,
  proposePlan,
  type PlanDecision,
} from './plans.ts';
export { heldScopes, setHolds, type Hold } from './holds.ts';
export { inParts, textList } from './read.ts';
export {
  adoptPlaces,
  busyByMachine,
  databaseNowMs,
  type LiveMachine,
  liveMachines,
  machineName,
  othersLand,
} from './machines.ts';
export { isDrained, type MachineWork, machineWork } from './machine-work.ts';
export { refreshReadiness } from './readiness.ts';
export { addTask, insertBlockers } from './tasks.ts';
export {
  addSpending,
  answersTo,
  busyAgents,
  paceOf,
  setPace,
  spentByPart,
  spentByScope,
  type SpendingKey,
} from './spending.ts';
export {
  endAllUpkeep,
  endUpkeep,
  endUpkeepOfOthers,
  forgetSlot,
  type HeldSlot,
  holdForUpkeep,
  leaseSlot,
  releaseSlot,
  setSlotAside,
  type SlotPlace,
} from './slots.ts';
export {
  addHint,
  askQuestion,
  endQuestion,
  markHintDelivered,
  openHints,
  withdrawQuestions,
} from './questions.ts';
export { refusedPushes, refusedPushesMax } from './refused-pushes.ts';
export {
  type Dependent,
  dependentsOf,
  epicById,
  flagsOfRun,
  reopenEpic,
  rootTasksOf,
} from './undo-rows.ts';
export { beginSubTask, familyOf, rootOf, unmetBlockers } from './transition.ts';
