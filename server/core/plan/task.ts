// The main types: task, epic, attempt, run, question, hint. Times are Unix milliseconds; missing
// values are null.

import type { ChooseRule } from './best-of.ts';
import type { FailureKind } from '../failure.ts';
import type { TaskStatus } from './state.ts';
import type { RunPlace } from '../settings/remote-settings.ts';

export const taskTypes = [
  'feature',
  'bug',
  'refactor',
  'test',
  'docs',
  'research',
  'fix',
  'other',
] as const;
export type TaskType = (typeof taskTypes)[number];

export const testModes = ['strict', 'lenient', 'disabled'] as const;
export type TestMode = (typeof testModes)[number];

export const testScopes = ['diff', 'all', 'skip'] as const;
export type TestScope = (typeof testScopes)[number];

/**
 * `task`: each task lands on the target. `epic`: the finished epic lands. `review`: like `epic`,
 * but after an approval.
 */
/** `pr`: the finished epic is sent to the forge as a pull request. */
export const landModes = ['task', 'epic', 'review', 'pr'] as const;
export type LandMode = (typeof landModes)[number];

/** The kinds of agents. The agents layer has one driver for each. */
export const agentKinds = [
  'claude',
  'drover-code',
  'codex',
  'opencode',
  'gemini',
  'copilot',
  'amp',
  'acp',
  'command',
  'demo',
] as const;
export type AgentKind = (typeof agentKinds)[number];

export const verdicts = ['pass', 'fail', 'blocked', 'unknown'] as const;
export type Verdict = (typeof verdicts)[number];

/** Why a person must decide. */
export const reviewKinds = [
  'approval', // the change waits for an approval before it lands
  'no_changes', // the agent succeeded, but made no expected commit
  'held_files', // files that look like secrets or are too large were not committed
  'protected', // files that affect what programs do later were changed
  'unmerged', // conflict markers, both sides of a conflict undone, or a removed commit restored
  'reviewed', // the reviewing agent's findings are open, or it gave no verdict
  'plan', // a plan waits for an approval
  'candidate', // the candidate passed its gate and waits for the choice
] as const;
export type ReviewKind = (typeof reviewKinds)[number];

/** Whether the attempt changed only files that git ignores, which a person may choose to land. */
export function hasIgnoredResults(task: {
  readonly review_kind: string | null;
  readonly held_files: readonly string[];
}): boolean {
  return task.review_kind === 'no_changes' && task.held_files.length > 0;
}

/** The step that a running attempt is in. */
export const phases = ['worktree', 'setup', 'agent', 'commit', 'gate', 'land'] as const;
export type Phase = (typeof phases)[number];

/** Phases after the agent's work: the task needs no worker, and its worktree is free. */
export const handedOver = ['gate', 'land'] as const satisfies readonly Phase[];

export function isHandedOver(phase: string | null): boolean {
  return handedOver.some((each) => each === phase);
}

/** Used instead of a phase for a paused task in whose worktree a person works. */
export const byHandPhase = 'by_hand';

export interface Task {
  readonly id: string;
  readonly title: string;
  /** Includes the acceptance criteria, which are also stored as a list. */
  readonly description: string;
  readonly epicId: string | null;
  readonly parentId: string | null;
  /** Position among the parent's sub-tasks, from 1; 0 without a parent. */
  readonly sequence: number;
  readonly type: TaskType;
  readonly status: TaskStatus;
  readonly priority: number;
  readonly labels: readonly string[];
  readonly blockedBy: readonly string[];
  readonly blockedReason: string | null;
  /** The other tool that holds, deferred or closed the task, and may release it. */
  readonly heldBy?: 'beads' | null;
  readonly reviewKind: ReviewKind | null;
  /** Number of used attempts. Interrupted attempts do not count. */
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Whether the task needs a plan first. Null or absent = use the settings. */
  readonly plan?: boolean | null;
  /** Where its agents run. Null or absent = use the epic's value or the settings. */
  readonly runsOn?: RunPlace | null;
  readonly nextAttemptAt: number | null;
  readonly waitingUntil: number | null;
  readonly phase: Phase | null;
  readonly agent: AgentKind | null;
  /** Fallback agents, as `codex,claude:opus`; null = use the settings, '' = no fallback. */
  readonly fallback: string | null;
  /** Number of parallel candidates; null = use the settings. */
  readonly bestOf: number | null;
  readonly choose: ChooseRule | null;
  readonly baseSha: string | null;
  readonly branch: string | null;
  readonly commitSha: string | null;
  readonly landedSha: string | null;
  readonly worktreePath: string | null;
  readonly conflictFiles: readonly string[];
  readonly heldFiles: readonly string[];
  readonly rescueRefs: readonly string[];
  readonly verdict: Verdict;
  readonly verdictReason: string | null;
  readonly lastError: string | null;
  readonly acceptanceCriteria: readonly string[];
  readonly testMode: TestMode;
  readonly testScope: TestScope;
  /** The task's own gate command; null = use the project's. */
  readonly gate: string | null;
  readonly costUsd: number;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface Epic {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly status: 'open' | 'closed';
  readonly branch: string | null;
  readonly landedSha: string | null;
  readonly createdAt: number;
  readonly runsOn?: RunPlace | null;
}

export interface Attempt {
  readonly taskId: string;
  /** Counts from 1. */
  readonly number: number;
  readonly agent: AgentKind;
  readonly sessionId: string;
  readonly branch: string;
  readonly baseSha: string | null;
  readonly commitSha: string | null;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly failureKind: FailureKind | null;
  readonly error: string | null;
  readonly summary: string | null;
  readonly exitCode: number | null;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export interface Run {
  readonly id: string;
  readonly active: boolean;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly targetBranch: string;
  readonly resultBranch: string | null;
  readonly baseSha: string;
  readonly workers: number;
  readonly epicId: string | null;
  readonly land: LandMode;
}

export interface Question {
  readonly id: string;
  readonly taskId: string;
  readonly attempt: number;
  readonly kind: 'permission' | 'question' | 'review';
  readonly text: string;
  readonly choices: readonly string[];
  readonly state: 'open' | 'answered' | 'withdrawn';
  readonly answer: string | null;
  readonly askedAt: number;
  readonly answeredAt: number | null;
}

export interface Hint {
  readonly id: string;
  readonly taskId: string;
  readonly text: string;
  readonly createdAt: number;
  readonly delivered: boolean;
}

/** Only research tasks may succeed without a commit. */
export function expectsCommit(task: { readonly type: string }): boolean {
  return task.type !== 'research';
}

/**
 * Whether the gate runs for this task by itself. `lenient` is treated as strict: work that fails
 * the gate never lands. With scope `diff`, the gate runs only if the task changed its base.
 */
export function hasGate(
  task: { readonly testMode: TestMode; readonly testScope: TestScope },
  changed = true,
): boolean {
  if (task.testMode === 'disabled') return false;
  switch (task.testScope) {
    case 'skip':
      return false;
    case 'all':
      return true;
    case 'diff':
      return changed;
  }
}
