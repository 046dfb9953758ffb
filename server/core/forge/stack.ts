// Plans a stack, which is an epic as a chain of pull requests, one per landed task. Pure.

import { forgeBranch, type PlannedLevel } from './pull-plan.ts';

/** A commit of the epic's line. Its change is the difference to its parent. */
export interface LineStep {
  readonly sha: string;
  readonly parent: string;
  /** The epic's task that the commit landed. Null for other commits, such as those of a person. */
  readonly task: string | null;
  readonly subject: string;
  readonly trailers: readonly string[];
}

/** A level whose branch is on the forge. */
export interface PushedLevel extends Omit<PlannedLevel, 'pushed'> {
  readonly branch: string;
  readonly base: string;
  readonly head: string;
  /** The commit below the level when the level was pushed. */
  readonly testedBase: string;
  /** `opening`: the pull request is not open yet. */
  readonly state: 'opening' | 'open' | 'merged' | 'closed';
}

export interface StackLevel {
  readonly position: number;
  readonly branch: string;
  readonly tasks: readonly string[];
  readonly steps: readonly LineStep[];
  /** Null if the branch is new. */
  readonly pushed: PushedLevel | null;
}

export interface StackPlan {
  readonly epicId: string;
  /** The commits of the epic's line since it left the base, oldest first. */
  readonly steps: readonly LineStep[];
  readonly levels: readonly PushedLevel[];
  /** Titles of the epic's tasks. */
  readonly titles: ReadonlyMap<string, string>;
  /** Task → branch of the level that it fixes. */
  readonly fixes: ReadonlyMap<string, string>;
  /** Fixes that fail within the level that they fix, so they get their own level. */
  readonly onTop: ReadonlySet<string>;
  /** Commits that only pass the gate together with the next commit. */
  readonly joined: ReadonlySet<string>;
  readonly nextPosition: number;
}

/** Returns the levels that are not merged, from the bottom. */
export function planLevels(plan: StackPlan): readonly StackLevel[] {
  const bySha = new Map(plan.steps.map((step) => [step.sha, step]));
  // The work of closed levels is sent again.
  const kept = plan.levels.filter(({ state }) => state !== 'closed');
  const owned = new Set(kept.flatMap(({ commits }) => commits));
  const left = plan.steps.filter(({ sha }) => !owned.has(sha));
  const fixed = (step: LineStep): string | undefined =>
    step.task === null || plan.onTop.has(step.sha) ? undefined : plan.fixes.get(step.task);
  const open = kept.filter(({ state }) => state !== 'merged');
  const levels = open.map((pushed): StackLevel => {
    const { position, branch, tasks, commits } = pushed;
    const own = commits.flatMap((sha) => bySha.get(sha) ?? []);
    const added = left.filter((step) => fixed(step) === branch);
    const more = added.flatMap(({ task }) => task ?? []);
    return { position, branch, tasks: [...tasks, ...more], steps: [...own, ...added], pushed };
  });
  const placed = new Set(levels.flatMap(({ steps }) => steps.map(({ sha }) => sha)));
  return [
    ...levels,
    ...newLevels(
      plan,
      left.filter(({ sha }) => !placed.has(sha)),
    ),
  ];
}

function newLevels(plan: StackPlan, steps: readonly LineStep[]): readonly StackLevel[] {
  const groups: LineStep[][] = [];
  let group: LineStep[] = [];
  for (const step of steps) {
    group.push(step);
    if (step.task === null || plan.joined.has(step.sha)) continue;
    groups.push(group);
    group = [];
  }
  if (group.length > 0) {
    const last = groups.at(-1);
    if (last === undefined) groups.push(group);
    else last.push(...group);
  }
  return groups.map((own, index): StackLevel => {
    const position = plan.nextPosition + index;
    const tasks = [...new Set(own.flatMap(({ task }) => task ?? []))];
    const [first] = tasks;
    const words = first === undefined ? (own[0]?.subject ?? '') : plan.titles.get(first);
    const branch = levelBranch(plan.epicId, position, words ?? '');
    return { position, branch, tasks, steps: own, pushed: null };
  });
}

const slugMax = 40;

/**
 * The branch has a suffix instead of a subfolder of the epic's branch, because git cannot have a
 * branch below another one.
 */
export function levelBranch(epicId: string, position: number, title: string): string {
  const words = title.toLowerCase().replaceAll(/[^a-z0-9]+/gu, '-');
  const slug = words.slice(0, slugMax).replaceAll(/^-+|-+$/gu, '');
  return `${forgeBranch(epicId)}-${position}${slug === '' ? '' : `-${slug}`}`;
}

/** Groups the steps that directly follow each other on the line. Each group is one change. */
export function stepRuns(steps: readonly LineStep[]): readonly (readonly LineStep[])[] {
  const runs: LineStep[][] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    if (last !== undefined && last.at(-1)?.sha === step.parent) last.push(step);
    else runs.push([step]);
  }
  return runs;
}

/** The place of a pull request in its stack. */
export interface StackPlace {
  /** 1 is the bottom. Closed levels do not count. */
  readonly rank: number;
  readonly count: number;
  /** Number of the open pull request below. Null if there is none, so this one can be merged. */
  readonly below: number | null;
}

/** Returns `PR #41`, or `PR #41 (1 of 5)` in a stack. */
export function pullName(number: number, place: StackPlace | null): string {
  return `PR #${number}${place === null ? '' : ` (${place.rank} of ${place.count})`}`;
}
