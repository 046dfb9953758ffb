// Decides which issues a project may take by itself: those with the configured label that no person
// and no other Drover project works on. Pure.

import { type Blocker, type Issue, issueName } from './issue.ts';
import { type IssuePlan, issueId, type IssueTask } from './issue-plan.ts';

/** A label with this prefix names the project that took the issue. */
const claimPrefix = 'drover-taken:';
const idShown = 8;

export function claimLabel(projectId: string): string {
  return `${claimPrefix}${projectId.slice(0, idShown)}`;
}

/** Returns null if the setting does not name a label. */
export function intakeLabel(setting: string): string | null {
  const label = /^label:(.+)$/su.exec(setting.trim())?.[1]?.trim() ?? '';
  return label === '' ? null : label;
}

/**
 * `free`: this project may claim it. `withdraw`: another project claimed it first, so this project
 * must remove its label.
 */
export type Claim = 'ours' | 'free' | 'others' | 'withdraw';

export interface Claimant {
  readonly label: string;
  /** The user of the token. */
  readonly login: string;
}

/**
 * `isPlanned`: the plan already has the issue, so a later claim by another project must be
 * withdrawn instead.
 */
export function decideIssueClaim(
  { labels, assignees }: Pick<Issue, 'labels' | 'assignees'>,
  { label, login }: Claimant,
  isPlanned: boolean,
): Claim {
  const isAsked = labels.includes(label);
  if (otherClaims(labels, label).length > 0) {
    if (!isAsked) return 'others';
    return isPlanned ? 'ours' : 'withdraw';
  }
  if (isAsked) return 'ours';
  return assignees.length > 0 && !assignees.includes(login) ? 'others' : 'free';
}

/**
 * Decides after this project set its label and read the labels again. A project that sees no other
 * claim owns the issue, because every later claimant sees its label. If two projects see each
 * other's label, one withdraws and the other checks again.
 */
export function claimAfter(labels: readonly string[], own: string): 'ours' | 'wait' | 'withdraw' {
  const others = otherClaims(labels, own);
  if (others.length === 0) return 'ours';
  return others.every((other) => own < other) ? 'wait' : 'withdraw';
}

function otherClaims(labels: readonly string[], own: string): readonly string[] {
  return labels.filter((label) => label.startsWith(claimPrefix) && label !== own);
}

/** Labels of claims do not describe the work. */
export function withoutClaims(issue: Issue): Issue {
  return { ...issue, labels: issue.labels.filter((label) => !label.startsWith(claimPrefix)) };
}

export interface HeldPlan {
  readonly plan: IssuePlan;
  /** Maps a task to the names of open issues that it waits for and that no plan here contains. */
  readonly waits: ReadonlyMap<string, readonly string[]>;
}

/** Returns the whole plan. Tasks that wait for issues outside of it are held. */
export function withHolds(
  { epics, tasks }: IssuePlan,
  home: string,
  isPlanned: (id: string) => boolean,
): HeldPlan {
  const waits = new Map<string, readonly string[]>();
  const isHere = (blocker: Blocker): boolean => isPlanned(issueId(blocker, home));
  const all = tasks.map((task): IssueTask => {
    const away = task.outside.filter((blocker) => !isHere(blocker));
    if (away.length > 0) waits.set(task.id, away.map(issueName));
    const here = task.outside.filter(isHere).map((blocker) => issueId(blocker, home));
    return { ...task, blockedBy: [...task.blockedBy, ...here] };
  });
  return { plan: { epics, tasks: all }, waits };
}

/** Shown to people on the board, in the inbox and in `why`. */
export function waitWords(names: readonly string[]): string {
  return `waits for ${names.map((name) => `${name} (open)`).join(', ')}`;
}
