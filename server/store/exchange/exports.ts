// Exports the whole plan as text: a session, JSONL, YAML or Beads.

import { readBlockCause } from '../../core/plan/block-cause.ts';
import { mergeBeads } from '../../core/exchange/export-beads.ts';
import { exportJsonl } from '../../core/exchange/export-jsonl.ts';
import {
  exportSession,
  sessionDocument,
  type SessionInput,
  type SessionTask,
  type SessionWorktree,
} from '../../core/exchange/export-session.ts';
import { toYaml } from '../../core/exchange/export-yaml.ts';
import {
  agentKinds,
  type AgentKind,
  type Epic,
  phases,
  reviewKinds,
  verdicts,
} from '../../core/plan/task.ts';
import { toExistingTask, plannedTasks, runPlace } from './import-existing.ts';
import { importedWork } from './import-state.ts';
import { removedIds } from './removed-ids.ts';
import { type Db, readAtOneMoment, textList } from '../rows/one-moment.ts';
import type { EpicRow, TaskRow, WorktreeTable } from '../schema/tables.ts';
import type { Selectable } from 'kysely';

export type ExportFormat = 'session' | 'json' | 'yaml' | 'beads' | 'jsonl';

export interface ExportRequest {
  readonly format: ExportFormat;
  /** The current Beads file. Lines that are not from this plan are preserved. */
  readonly present?: string;
  /**
   * Set for a sync: canceled tasks get no new line, and the lines with these ids stay unchanged.
   */
  readonly sync?: { readonly leave: readonly string[] };
  readonly nowMs: number;
  /** Used only for display. */
  readonly repository: string;
}

export interface ExportResult {
  readonly text: string;
  /** For Beads: ids whose line in `present` is newer than the plan and was left unchanged. */
  readonly kept?: readonly string[];
}

export async function exportPlan(db: Db, request: ExportRequest): Promise<ExportResult> {
  const plan = await readAtOneMoment(db, readPlan);
  const input: SessionInput = {
    ...plan,
    exportedAt: new Date(request.nowMs).toISOString(),
    repository: request.repository,
  };
  switch (request.format) {
    case 'session':
    case 'json':
      return { text: exportSession(input) };
    case 'yaml':
      return { text: toYaml(sessionDocument(input)) };
    case 'jsonl':
      return { text: exportJsonl(plan.epics, plan.tasks) };
    case 'beads':
      return beadsOf(plan, request, request.sync === undefined ? new Set() : await removedIds(db));
  }
}

function beadsOf(
  plan: Plan,
  { present, sync }: ExportRequest,
  removed: ReadonlySet<string>,
): ExportResult {
  const merged = mergeBeads({
    epics: plan.epics,
    tasks: plan.tasks,
    text: present ?? '',
    shape: 'bd',
    leave: new Set(sync?.leave),
    removed,
    isSync: sync !== undefined,
    timeText: (ms) => new Date(ms).toISOString(),
    timeOf: (text) => {
      const ms = Date.parse(text);
      return Number.isNaN(ms) ? null : ms;
    },
  });
  return present === undefined ? { text: merged.text } : { text: merged.text, kept: merged.losers };
}

interface Plan {
  readonly tasks: readonly SessionTask[];
  readonly epics: readonly Epic[];
  readonly worktrees: readonly SessionWorktree[];
}

async function readPlan(db: Db): Promise<Plan> {
  const { rows, blockers } = await plannedTasks(db);
  const epics = await db.selectFrom('epics').selectAll().orderBy('position').execute();
  const worktrees = await db.selectFrom('worktrees').selectAll().orderBy('task_id').execute();
  return {
    tasks: rows.map((row) => sessionTask(row, blockers.get(row.id) ?? [])),
    epics: epics.map(epicOf),
    worktrees: worktrees.map(worktreeOf),
  };
}

function epicOf(row: EpicRow): Epic {
  return {
    id: row.id,
    title: row.title,
    description: row.description ?? '',
    status: row.status === 'closed' ? 'closed' : 'open',
    branch: row.branch,
    landedSha: row.landed_sha,
    createdAt: row.created_at * 1000,
    runsOn: runPlace(row.runs_on),
  };
}

function worktreeOf(row: Selectable<WorktreeTable>): SessionWorktree {
  return {
    taskId: row.task_id,
    path: row.path,
    branch: row.branch,
    createdAt: row.created_at * 1000,
    lastUsedAt: row.last_used_at * 1000,
    status: row.status,
  };
}

function known<Word extends string>(words: readonly Word[], given: string | null): Word | null {
  return words.find((word) => word === given) ?? null;
}

function sessionTask(row: TaskRow, blockedBy: readonly string[]): SessionTask {
  const content = toExistingTask(row, blockedBy);
  const work = importedWork(row);
  return {
    ...content,
    testMode: content.testMode ?? 'strict',
    testScope: content.testScope ?? 'diff',
    maxAttempts: row.max_attempts,
    agent: known<AgentKind>(agentKinds, row.agent),
    status: row.status,
    blockedReason: row.blocked_reason,
    heldBy: readBlockCause(row.blocked_by)?.kind === 'beads' ? 'beads' : null,
    reviewKind: known(reviewKinds, row.review_kind),
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at_ms,
    waitingUntil: row.waiting_until_ms,
    phase: known(phases, row.phase),
    baseSha: work.base_sha,
    branch: work.branch,
    commitSha: work.commit_sha,
    landedSha: work.landed_sha,
    worktreePath: row.worktree_path,
    conflictFiles: textList(row.conflict_files),
    heldFiles: textList(row.held_files),
    rescueRefs: textList(work.rescue_refs),
    verdict: known(verdicts, row.verdict) ?? 'unknown',
    verdictReason: row.verdict_reason,
    lastError: row.last_error,
    costUsd: row.cost_usd,
    createdAt: row.created_at * 1000,
    updatedAt: row.updated_at * 1000,
    operator: row.operator === '' ? null : row.operator,
  };
}
