// Imports a file: compares it with the project and writes it in one transaction, completely or not
// at all.

import { Refusal } from '../../core/failure.ts';
import {
  type BeadsChanges,
  changesSince,
  withChangedFields,
  withChangedTexts,
} from '../../core/exchange/beads-base.ts';
import { sameContent, sameEpic } from '../../core/exchange/import-content.ts';
import { parseBeads } from '../../core/exchange/import-beads.ts';
import { parseImport, splitLines } from '../../core/exchange/import-jsonl.ts';
import {
  type ImportedState,
  parseSession,
  type SessionPlan,
} from '../../core/exchange/import-session.ts';
import {
  emptyProject,
  type ImportedTask,
  type ImportPlan,
  type ImportProblem,
  importProblemsMax,
} from '../../core/exchange/import-types.ts';
import type { ImportResultView } from '../../protocol/api.ts';
import { appendEvent, type StoreSources } from '../feed/feed.ts';
import { conflictWarnings } from './import-conflicts.ts';
import { checkAgainstWork, whyNotUpdated } from './import-checks.ts';
import { readProject, type StoredProject } from './import-existing.ts';
import { type ImportFormat, isYaml, sniffFormat } from './import-format.ts';
import { removedIds } from './removed-ids.ts';
import { type EpicTakeOver, takeOverEpics } from './take-over-epics.ts';
import { takeOverStates, type TakenOver, type TakeOver } from './import-take-over.ts';
import { writePlan } from './import-write.ts';
import type { Store } from '../port.ts';
import type { Tx } from '../schema/tables.ts';

export interface ImportRequest {
  readonly text: string;
  readonly badUtf8Lines: readonly number[];
  /** File name, for messages and as the origin of its records. */
  readonly file: string;
  readonly format: 'auto' | ImportFormat;
  readonly dryRun: boolean;
  readonly update: boolean;
  readonly rename: boolean;
  readonly skipInvalid: boolean;
  /**
   * The Beads file at the last sync, when both sides were equal. Only differences from it are the
   * other side's changes.
   */
  readonly base?: string;
  /** Runs in the same transaction after the records are written. */
  readonly also?: (tx: Tx) => Promise<void>;
  /** Default for records without a number of attempts. */
  readonly maxAttempts: number;
  /** Whether this repository has the commits that a session names. Not called for other formats. */
  readonly knowsCommits?: (shas: readonly string[]) => Promise<boolean>;
}

export async function importFile(store: Store, request: ImportRequest): Promise<ImportResultView> {
  if (request.update && request.rename) {
    throw new Refusal(
      'bad_request',
      'A record that exists with other content can be updated or renamed, not both; use one of --update and --rename.',
    );
  }
  const format = request.format === 'auto' ? sniffFormat(request) : request.format;
  if (isYaml(request)) {
    throw new Refusal(
      'bad_request',
      `${request.file} is YAML, which is written for people and not read again. Import JSONL, a session or a Beads file, such as "drover export -f session" writes.`,
    );
  }
  // Called before the transaction, because git is slow and all writers would wait for it.
  const states = format === 'session' ? statesOf(request.text) : [];
  const commits = [...new Set(states.flatMap(commitsOf))];
  const isForeign =
    commits.length > 0 &&
    request.knowsCommits !== undefined &&
    !(await request.knowsCommits(commits));
  return store.transaction(async (tx) => {
    const result = await importInto(tx, store, { ...request, format, isForeign });
    await request.also?.(tx);
    return result;
  });
}

function statesOf(text: string): ImportedState[] {
  return [...parseSession(text, emptyProject).states.values()];
}

function commitsOf(state: ImportedState): string[] {
  return [state.landedSha, state.commitSha, state.baseSha].filter((sha) => sha !== null);
}

interface ReadyRequest extends ImportRequest {
  readonly format: ImportFormat;
  /** The file is from another repository, so its commits and branches have no meaning here. */
  readonly isForeign: boolean;
}

async function importInto(tx: Tx, store: Store, request: ReadyRequest): Promise<ImportResultView> {
  const project = await readProject(tx);
  const parsed = parse(request, project, store.sources.clock.now());
  if (parsed.problems.length > importProblemsMax) throw tooManyProblems(request, parsed.problems);
  const news = request.base === undefined ? null : changesSince(request.base, request.text);
  const { plan: due, later: edited } =
    news === null
      ? { plan: parsed, later: [] }
      : dueNow(parsed, news.changed, { project, removed: await removedIds(tx) });
  const plan = checkAgainstWork(due, project);
  const isRefused = plan.problems.length > 0 && !request.skipInvalid;
  const found = resultOf(plan, isRefused);
  const result =
    news === null
      ? found
      : {
          ...found,
          later: edited,
          warnings: [
            ...found.warnings,
            ...conflictWarnings({
              base: request.base ?? '',
              file: parsed,
              changed: news.changed,
              later: edited,
              project,
            }),
          ],
        };
  const count = plan.epics.length + plan.tasks.length;
  const updates = plan.updatedEpics.length + plan.updatedTasks.length;
  if (isRefused) return result;
  const isSync = request.format === 'beads' && request.update;
  const takeOver = isSync ? takeOverOf(parsed, news) : null;
  if (request.dryRun || (count + updates === 0 && !isSync)) {
    if (takeOver === null) return result;
    return withTaken(result, await takeOverStates(tx, store.sources, takeOver, true));
  }
  await writePlan(tx, store.sources, plan, {
    project,
    file: request.file,
    maxAttempts: request.maxAttempts,
    states: parsed.states,
    closedEpics: new Set(parsed.closedEpics),
    epicTimes: parsed.epicTimes,
    isForeign: request.isForeign,
  });
  const taken = takeOver === null ? noneTaken : await takeOverAll(tx, store.sources, takeOver);
  if (count + updates + taken.changed.length === 0) return withTaken(result, taken);
  await appendEvent(tx, store.sources, {
    type: 'import.finished',
    data: {
      file: request.file,
      format: request.format,
      ...result.imported,
      updated: updates,
      taken_over: taken.changed.length,
      unchanged: result.unchanged,
      left_out: result.errors.length,
    },
  });
  return withTaken(result, taken);
}

/** The whole list would be useless to a reader, and other clients would wait for the response. */
function tooManyProblems({ file }: ImportRequest, problems: readonly ImportProblem[]): Refusal {
  const [first] = problems;
  const example = first === undefined ? '' : `; the first is line ${first.line}: ${first.message}`;
  const count = importProblemsMax.toLocaleString('en-US');
  return new Refusal(
    'bad_import',
    `${file} has more than ${count} bad lines${example}. Nothing was imported; check that it is a plan.`,
  );
}

const noneTaken: TakenOver = { changed: [], running: [], unwanted: [], later: [] };

function takeOverOf(parsed: SessionPlan, news: BeadsChanges | null): TakeOver & EpicTakeOver {
  return {
    states: parsed.states,
    closed: new Set(parsed.closedEpics),
    deleted: new Set([...(parsed.deleted ?? []), ...(news?.gone ?? [])]),
    changed: news === null ? null : stateNews(news),
    moved: news?.moved ?? new Set(),
  };
}

/** Applies tasks before their epics, which can only be closed after them. */
async function takeOverAll(
  tx: Tx,
  sources: StoreSources,
  takeOver: TakeOver & EpicTakeOver,
): Promise<TakenOver> {
  const tasks = await takeOverStates(tx, sources, takeOver, false);
  const epics = await takeOverEpics(tx, sources, takeOver);
  return {
    ...tasks,
    changed: [...tasks.changed, ...epics.changed],
    later: [...tasks.later, ...epics.later],
  };
}

/** Ids whose state the other tool has changed. */
function stateNews({ changed, gone }: BeadsChanges): ReadonlySet<string> {
  const told = [...changed].filter(([, fields]) => fields.has('state')).map(([id]) => id);
  return new Set([...told, ...gone]);
}

/**
 * Drops fields that are unchanged on the other side, so that they are not overwritten here or
 * restored after a removal. Changes to a running task wait for its end.
 */
function dueNow(
  plan: SessionPlan,
  changed: BeadsChanges['changed'],
  { project, removed }: { readonly project: StoredProject; readonly removed: ReadonlySet<string> },
): { readonly plan: SessionPlan; readonly later: readonly string[] } {
  const updates = plan.updatedTasks.flatMap((task) => {
    const [fields, ours] = [changed.get(task.id), project.tasks.get(task.id)];
    if (fields === undefined || ours === undefined) return [];
    const merged = withChangedFields(task, ours, fields);
    return sameContent(merged, ours) ? [] : [merged];
  });
  const epics = plan.updatedEpics.flatMap((epic) => {
    const [fields, ours] = [changed.get(epic.id), project.epics.get(epic.id)];
    if (fields === undefined || ours === undefined) return [];
    const merged = withChangedTexts(epic, ours, fields);
    return sameEpic(merged, ours) ? [] : [merged];
  });
  const differing = new Set([...updates, ...epics].map(({ id }) => id));
  const isRunning = (id: string): boolean => whyNotUpdated(id, project) !== null;
  const later = updates.filter(({ id }) => isRunning(id)).map(({ id }) => id);
  const isGone = (id: string): boolean => removed.has(id) && !changed.has(id);
  const due = {
    ...plan,
    ...withoutRemoved(plan, updates, isGone),
    updatedEpics: epics,
    updatedTasks: updates.filter(({ id }) => !isRunning(id)),
    differs: plan.differs.filter((id) => differing.has(id)),
  };
  return { plan: due, later };
}

/** Drops records that were removed here, unless another record refers to them. */
function withoutRemoved(
  { epics, tasks }: SessionPlan,
  updates: readonly ImportedTask[],
  isRemoved: (id: string) => boolean,
): Pick<SessionPlan, 'epics' | 'tasks'> {
  const needed = new Set<string>();
  const queue = [...updates, ...tasks.filter(({ id }) => !isRemoved(id))];
  for (const { blockedBy, parentId, epicId } of queue) {
    for (const id of [...blockedBy, parentId ?? '', epicId ?? '']) {
      if (!isRemoved(id) || needed.has(id)) continue;
      needed.add(id);
      queue.push(...tasks.filter((task) => task.id === id));
    }
  }
  const isKept = ({ id }: { readonly id: string }): boolean => !isRemoved(id) || needed.has(id);
  return { epics: epics.filter(isKept), tasks: tasks.filter(isKept) };
}

/** Counts tasks that another tool closed, deleted, held or reopened as applied differences. */
function withTaken(result: ImportResultView, taken: TakenOver): ImportResultView {
  if (taken.changed.length + taken.running.length + taken.later.length === 0) return result;
  const isSync = result.later !== undefined;
  const warnings = taken.running
    .filter((id) => !isSync || !taken.unwanted.includes(id))
    .map((id) => ({
      line: 0,
      id,
      message: isSync
        ? `It was closed in Beads while its agent runs; its landing decides. Run "drover cancel ${id}" to stop it.`
        : `It was closed or deleted in Beads while its agent runs. Run "drover cancel ${id}" to stop it.`,
    }));
  return {
    ...result,
    unchanged: Math.max(0, result.unchanged - taken.changed.length),
    differs: [...new Set([...result.differs, ...taken.changed])],
    warnings: [...result.warnings, ...warnings],
    ...(isSync && {
      unwanted: taken.unwanted,
      later: [...new Set([...(result.later ?? []), ...taken.later])],
    }),
  };
}

function timeOfText(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

function parse(request: ReadyRequest, project: StoredProject, nowMs: number): SessionPlan {
  const onDiffers = request.update ? 'update' : request.rename ? 'rename' : 'refuse';
  const { badUtf8Lines } = request;
  switch (request.format) {
    case 'session':
      return parseSession(request.text, project, { onDiffers });
    case 'beads':
      return parseBeads(splitLines(request.text), project, {
        onDiffers,
        badUtf8Lines,
        holds: { nowMs, timeOf: timeOfText },
      });
    case 'jsonl': {
      const plan = parseImport(request.text, project, { onDiffers, badUtf8Lines });
      return { ...plan, states: new Map(), closedEpics: [], epicTimes: new Map() };
    }
  }
}

function resultOf(plan: ImportPlan, isRefused: boolean): ImportResultView {
  return {
    imported: {
      epics: isRefused ? 0 : plan.epics.length,
      tasks: isRefused ? 0 : plan.tasks.length,
    },
    unchanged: plan.unchanged.epics.length + plan.unchanged.tasks.length,
    differs: plan.differs,
    errors: plan.problems.map(({ line, id, kind, message }) => ({
      line,
      code: kind,
      kind,
      id,
      message,
    })),
    warnings: plan.warnings.map(({ line, id, message }) => ({ line, id, message })),
  };
}
