// Which issues a project may take by itself: those with a label that no person and no other Drover
// works on. Pure.

import { type Blocker, type Issue, issueName } from './issue.ts';
import { type IssuePlan, issueId, type IssueTask } from './issue-plan.ts';

/** A label of this kind says which project has taken the issue. */
const claimPrefix = 'drover-taken:';
const idShown = 8;

export function claimLabel(projectId: string): string {
  return `${claimPrefix}${projectId.slice(0, idShown)}`;
}

/** Returns null if the setting is no label. */
export function intakeLabel(setting: string): string | null {
  const label = /^label:(.+)$/su.exec(setting.trim())?.[1]?.trim() ?? '';
  return label === '' ? null : label;
}

/**
 * `withdraw`: this project has asked for it after another one had: its label has to go. `free`: it
 * can be asked for.
 */
export type Claim = 'ours' | 'free' | 'others' | 'withdraw';

export interface Claimant {
  readonly label: string;
  /** Whose token it is. */
  readonly login: string;
}

/** `isPlanned`: the plan has it already, so that a later claim of another project gives way. */
export function claimOn(
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
 * Read after the own label was set. A project that reads no other label has the issue: each later
 * claimant reads its label. Of two that read each other's, one withdraws and the other asks again.
 */
export function claimAfter(labels: readonly string[], own: string): 'ours' | 'wait' | 'withdraw' {
  const others = otherClaims(labels, own);
  if (others.length === 0) return 'ours';
  return others.every((other) => own < other) ? 'wait' : 'withdraw';
}

function otherClaims(labels: readonly string[], own: string): readonly string[] {
  return labels.filter((label) => label.startsWith(claimPrefix) && label !== own);
}

/** Labels of claims say nothing about the work. */
export function withoutClaims(issue: Issue): Issue {
  return { ...issue, labels: issue.labels.filter((label) => !label.startsWith(claimPrefix)) };
}

export interface HeldPlan {
  readonly plan: IssuePlan;
  /** Task → names of the open issues that it waits for and that are in no plan here. */
  readonly waits: ReadonlyMap<string, readonly string[]>;
}

/** The whole plan; tasks that wait for issues outside of it are held. */
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

/** For people: on the board, in the inbox and in `why`. */
export function waitWords(names: readonly string[]): string {
  return `waits for ${names.map((name) => `${name} (open)`).join(', ')}`;
}
