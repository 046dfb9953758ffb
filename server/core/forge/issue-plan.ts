// Turns issues into a plan: sub-issues become tasks of an epic, and "blocked by" becomes an edge. A
// blocker outside of the plan is returned in `outside`, not dropped.

import type { TaskType } from '../plan/task.ts';
import { type Blocker, type Issue, issueName, type IssueRef } from './issue.ts';
import { epicText, lineOf, taskText, titleOf } from './issue-texts.ts';
import { type IssueTree, treeOfIssues } from './issue-tree.ts';

export interface IssueEpic {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

export interface IssueTask {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly epicId: string | null;
  readonly type: TaskType;
  readonly blockedBy: readonly string[];
  readonly labels: readonly string[];
  /** Open issues that it waits for and that are not in the plan. */
  readonly outside: readonly Blocker[];
}

export interface IssuePlan {
  readonly epics: readonly IssueEpic[];
  readonly tasks: readonly IssueTask[];
}

/** The epic of issues without a parent: a milestone, a label or a search. */
export type Gathering = Pick<IssueEpic, 'id' | 'title'>;

interface Edges {
  readonly on: Set<Issue>;
  readonly outside: Map<string, Blocker>;
}

/** Issues of the repository `home` (a slug) get short ids. Closed issues are omitted. */
export function planOfIssues(
  issues: readonly Issue[],
  home: string,
  gathering: Gathering | null,
): IssuePlan {
  const tree = treeOfIssues(issues);
  const isEpic = (issue: Issue): boolean =>
    tree.topOf(issue) === issue && tree.belowTop(issue).length > 0;
  const tasks = tree.issues.filter((issue) => !isEpic(issue));
  const edges = edgesOf(tree, tasks, isEpic);
  const idOf = (ref: IssueRef): string => issueId(ref, home);
  const made = tasks.map((task): IssueTask => {
    const top = tree.topOf(task);
    const { on, outside } = edges.get(task) ?? noEdges();
    return {
      id: idOf(task),
      title: titleOf(task),
      description: taskText(task),
      epicId: top === task ? (gathering?.id ?? null) : idOf(top),
      type: typeOfLabels(task.labels),
      blockedBy: [...on].map(idOf),
      labels: task.labels.map(lineOf),
      outside: [...outside.values()],
    };
  });
  const epics = tree.issues.filter(isEpic).map((issue) => ({
    id: idOf(issue),
    title: titleOf(issue),
    description: epicText(issue),
  }));
  const isGathered = gathering !== null && made.some(({ epicId }) => epicId === gathering.id);
  return {
    epics: isGathered ? [{ ...gathering, description: '' }, ...epics] : epics,
    tasks: made,
  };
}

function edgesOf(
  tree: IssueTree,
  tasks: readonly Issue[],
  isEpic: (issue: Issue) => boolean,
): ReadonlyMap<Issue, Edges> {
  const edges = new Map<Issue, Edges>();
  const addBlockers = (to: Edges, { blockedBy }: Issue, leftOut: readonly Issue[]): void => {
    for (const blocker of blockedBy) {
      if (!blocker.isOpen) continue;
      const found = tree.byName.get(issueName(blocker));
      if (found === undefined) to.outside.set(issueName(blocker), blocker);
      else
        for (const issue of isEpic(found) ? tree.belowTop(found) : [found])
          if (!leftOut.includes(issue)) to.on.add(issue);
    }
  };
  for (const task of tasks) {
    // An issue with sub-issues is done only after them.
    const own: Edges = { ...noEdges(), on: new Set(tree.childrenOf(task)) };
    edges.set(task, own);
    addBlockers(own, task, [task]);
  }
  for (const epic of tree.issues.filter(isEpic)) {
    const inside = tree.belowTop(epic);
    // The other tasks wait indirectly, through these.
    const first = inside.filter((task) => !inside.some((other) => edges.get(task)?.on.has(other)));
    for (const task of first) {
      const own = edges.get(task);
      if (own !== undefined) addBlockers(own, epic, inside);
    }
  }
  return edges;
}

function noEdges(): Edges {
  return { on: new Set(), outside: new Map() };
}

/** Returns the same ID at every import, so that a second import updates the task. */
export function issueId({ slug, number }: IssueRef, home: string): string {
  if (slug === home) return `gh-${number}`;
  const own = slug.replaceAll('/', '.').replaceAll(/[^A-Za-z0-9._-]/gu, '-');
  return `gh-${own.slice(0, 40)}-${number}`;
}

const typesOfLabels: Readonly<Record<string, TaskType>> = {
  bug: 'bug',
  documentation: 'docs',
  docs: 'docs',
  enhancement: 'feature',
  feature: 'feature',
  refactoring: 'refactor',
  test: 'test',
  tests: 'test',
};

function typeOfLabels(labels: readonly string[]): TaskType {
  for (const label of labels) {
    const type = typesOfLabels[label.toLowerCase()];
    if (type !== undefined) return type;
  }
  return 'other';
}

/** The ids that issues outside of the plan would have if an earlier import had added them. */
export function outsideIds({ tasks }: IssuePlan, home: string): readonly string[] {
  const ids = tasks.flatMap(({ outside }) => outside.map((blocker) => issueId(blocker, home)));
  return [...new Set(ids)];
}

export interface LeftOut {
  readonly task: IssueTask;
  /** Open issues that are not imported. */
  readonly waitsFor: readonly Blocker[];
}

/**
 * Drops tasks that wait, directly or indirectly, for a task that is not in the plan, because they
 * could start too early. `isPlanned`: an earlier import added the task.
 */
export function withoutWaiting(
  { epics, tasks }: IssuePlan,
  home: string,
  isPlanned: (id: string) => boolean,
): { readonly plan: IssuePlan; readonly left: readonly LeftOut[] } {
  const left = new Map<string, LeftOut>();
  const waitsFor = (task: IssueTask): readonly Blocker[] => [
    ...task.outside.filter((blocker) => !isPlanned(issueId(blocker, home))),
    ...task.blockedBy.flatMap((id) => left.get(id)?.waitsFor ?? []),
  ];
  for (let before = -1; before !== left.size;) {
    before = left.size;
    for (const task of tasks) {
      const open = left.has(task.id) ? [] : waitsFor(task);
      if (open.length > 0) left.set(task.id, { task, waitsFor: [...new Set(open)] });
    }
  }
  const taken = tasks
    .filter(({ id }) => !left.has(id))
    .map((task) => ({
      ...task,
      blockedBy: [...task.blockedBy, ...task.outside.map((blocker) => issueId(blocker, home))],
    }));
  const used = new Set(taken.map(({ epicId }) => epicId));
  return {
    plan: { epics: epics.filter(({ id }) => used.has(id)), tasks: taken },
    left: [...left.values()],
  };
}

/** Formats the plan as lines for `import`. */
export function jsonlOfIssues({ epics, tasks }: IssuePlan): string {
  const lines = [
    ...epics.map((epic) => ({ type: 'epic', ...epic })),
    ...tasks.map(({ id, title, description, epicId, type, blockedBy, labels }) => ({
      type: 'task',
      id,
      title,
      description,
      ...(epicId === null ? {} : { epic_id: epicId }),
      task_type: type,
      blocked_by: blockedBy,
      labels,
    })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
