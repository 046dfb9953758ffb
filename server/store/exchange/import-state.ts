// Converts the state of a task in a session or a Beads file, apart from its content, to columns.

import type { Updateable } from 'kysely';
import { storedCause } from '../../core/plan/block-cause.ts';
import type { ImportedState } from '../../core/exchange/import-session.ts';
import type { TaskRow, TaskTable } from '../schema/tables.ts';

export function stateColumns(state: ImportedState | undefined, isForeign: boolean) {
  if (state === undefined) return {};
  return {
    attempts: state.attempts,
    last_error: state.lastError,
    operator: state.operator,
    verdict: state.verdict,
    verdict_reason: state.verdictReason,
    blocked_reason: state.blockedReason,
    blocked_by: causeIn(state),
    review_kind: state.reviewKind,
    conflict_files: JSON.stringify(state.conflictFiles),
    held_files: JSON.stringify(state.heldFiles),
    next_attempt_at_ms: state.nextAttemptAtMs,
    waiting_until_ms: null,
    cost_usd: state.costUsd,
    ...(isForeign ? {} : workColumns(state)),
    ...(state.createdAt === null ? {} : { created_at: state.createdAt }),
    ...(state.updatedAt === null ? {} : { updated_at: state.updatedAt }),
  } satisfies Updateable<TaskTable>;
}

function causeIn({ heldBy, blockedReason }: ImportedState): string | null {
  if (heldBy === 'beads') return storedCause({ kind: 'beads' });
  return blockedReason === null ? null : storedCause({ kind: 'outside' });
}

/** Commits and branches. They have no meaning in another repository. */
export function workColumns(state: ImportedState) {
  return {
    base_sha: state.baseSha,
    branch: state.branch,
    commit_sha: state.commitSha,
    landed_sha: state.landedSha,
    rescue_refs: JSON.stringify(state.rescueRefs),
  } satisfies Updateable<TaskTable>;
}

type Work = Pick<TaskRow, 'base_sha' | 'branch' | 'commit_sha' | 'landed_sha' | 'rescue_refs'>;

/**
 * A task's commits and branches: its own or, as long as it has none, those of the project that it
 * was imported from.
 */
export function importedWork(row: TaskRow): Work {
  const isOwn = row.base_sha !== null || row.branch !== null || row.commit_sha !== null;
  if (isOwn || row.rescue_refs !== '[]' || row.source?.includes('"work":') !== true) return row;
  const { work } = JSON.parse(row.source) as { readonly work?: Work };
  return work ?? row;
}
