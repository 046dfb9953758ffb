// Import of a file: read against the project, and written in one transaction, whole or not at all.

import { Refusal } from '../core/failure.ts';
import { parseImport } from '../core/import-jsonl.ts';
import type { ImportPlan } from '../core/import-types.ts';
import type { ImportResultView } from '../protocol/api.ts';
import { appendEvent } from './feed.ts';
import { shown } from './field-checks.ts';
import { checkAgainstWork } from './import-checks.ts';
import { readProject } from './import-existing.ts';
import { writePlan } from './import-write.ts';
import type { Store } from './port.ts';
import type { Tx } from './tables.ts';
import { sniffFormat } from './import-format.ts';

export interface ImportRequest {
  readonly text: string;
  readonly badUtf8Lines: readonly number[];
  /** Name of the file, for messages and the source of what comes from it. */
  readonly file: string;
  readonly format: 'auto' | 'session' | 'jsonl' | 'beads';
  readonly dryRun: boolean;
  readonly update: boolean;
  readonly rename: boolean;
  readonly skipInvalid: boolean;
  /** For records that do not say how many attempts they have. */
  readonly maxAttempts: number;
}

export async function importFile(store: Store, request: ImportRequest): Promise<ImportResultView> {
  if (request.update && request.rename) {
    throw new Refusal(
      'bad_request',
      'A record that exists with other content can be updated or renamed, not both; use one of --update and --rename.',
    );
  }
  const format = request.format === 'auto' ? sniffFormat(request) : request.format;
  if (format !== 'jsonl') {
    throw new Refusal(
      'unsupported',
      `${shown(request.file)} is ${format === 'beads' ? 'a Beads file' : 'a session export'}: importing these comes in a later version; use JSONL until then (drover export -f jsonl).`,
    );
  }
  return store.transaction((tx) => importJsonl(tx, store, request));
}

async function importJsonl(
  tx: Tx,
  store: Store,
  request: ImportRequest,
): Promise<ImportResultView> {
  const project = await readProject(tx);
  const parsed = parseImport(request.text, project, {
    onDiffers: request.update ? 'update' : request.rename ? 'rename' : 'refuse',
    badUtf8Lines: request.badUtf8Lines,
  });
  const plan = checkAgainstWork(parsed, project);
  const isRefused = plan.problems.length > 0 && !request.skipInvalid;
  const result = resultOf(plan, isRefused);
  const count = plan.epics.length + plan.tasks.length;
  const updates = plan.updatedEpics.length + plan.updatedTasks.length;
  if (isRefused || request.dryRun || count + updates === 0) return result;
  await writePlan(tx, store.sources, plan, {
    project,
    file: request.file,
    maxAttempts: request.maxAttempts,
  });
  await appendEvent(tx, store.sources, {
    type: 'import.finished',
    data: {
      file: request.file,
      ...result.imported,
      updated: updates,
      unchanged: result.unchanged,
      left_out: result.errors.length,
    },
  });
  return result;
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
