// What an agent was told, and the change it made.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import type { Handlers } from '../../protocol/api.ts';
import { attemptLog } from '../../store/attempt-log.ts';
import { changeOf, type Change } from '../../store/changes.ts';
import type { DataGit, DataHandlerDeps } from './data.ts';
import { idOf, optionalInteger, recordOf } from './params.ts';

type WorkRequests = 'log.prompt' | 'diff';

const promptBytesMax = 4 * 1024 * 1024;
const diffCharactersMax = 8 * 1024 * 1024;

export function workHandlers(deps: DataHandlerDeps): Pick<Handlers, WorkRequests> {
  const { db } = deps.store;
  return {
    'log.prompt': async (params) => {
      const record = recordOf(params);
      const bounds = { min: 0, max: Number.MAX_SAFE_INTEGER };
      const wanted = optionalInteger(record['attempt'], 'attempt', bounds);
      const log = await attemptLog(db, idOf(record['id']), wanted);
      await deps.output.beforeRead(log);
      const prompt =
        log.file === null ? null : await readStart(`${join(deps.logs, log.file)}.prompt`);
      if (prompt === null) {
        throw new Refusal(
          'no_prompt',
          `${log.taskId} has not been given to an agent yet${log.attempt > 0 ? ` in attempt ${log.attempt}` : ''}; "drover run" starts it, and then it has a prompt.`,
        );
      }
      return { task_id: log.taskId, attempt: log.attempt, prompt };
    },
    diff: async (params) => {
      const change = await changeOf(db, idOf(recordOf(params)['id']));
      const { base, head } = await endsOf(deps.git, change);
      const diff = await deps.git.diff(base, head);
      if (!diff.ok) throw new Refusal('git', diff.error.message);
      return { id: change.id, base, head, text: cut(diff.value) };
    },
  };
}

/** The beginning of a file, or null when there is none. */
async function readStart(path: string): Promise<string | null> {
  let file;
  try {
    file = await open(path, 'r');
  } catch {
    return null;
  }
  try {
    const buffer = Buffer.alloc(promptBytesMax);
    const { bytesRead } = await file.read(buffer, 0, promptBytesMax, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function endsOf(
  git: DataGit,
  change: Change,
): Promise<{ base: string; head: string }> {
  for (const { base, head } of change.candidates) {
    const from = await git.resolve(base);
    const to = await git.resolve(head);
    if (from.ok && to.ok) return { base: from.value, head: to.value };
  }
  throw new Refusal(
    'no_change',
    `${change.id} has no commit to show yet (${change.state}); "drover run" makes one.`,
  );
}

function cut(text: string): string {
  if (text.length <= diffCharactersMax) return text;
  const left = text.length - diffCharactersMax;
  return `${text.slice(0, diffCharactersMax)}\n… ${left} characters more; use git diff to see them.\n`;
}
