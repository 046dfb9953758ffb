// The output of a step of an attempt: the newest log of the gate that tested its work, or of its
// setup command.

import { readdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import { redBaseOf } from '../../core/plan/block-cause.ts';
import type { Answer, Params } from '../../protocol/api.ts';
import type { EngineHandlerDeps } from './engine-deps.ts';
import { lastGatedTree } from '../../store/feed/find-events.ts';
import { taskOrRefuse, type TaskRow } from '../../store/port.ts';

/** The end of a log contains the reason; more than this is not read. */
const shownBytesMax = 2 * 1024 * 1024;

export async function readStepLog(
  { engine }: EngineHandlerDeps,
  { id, attempt, step }: Params<'step.log'>,
): Promise<Answer<'step.log'>> {
  const task = await taskOrRefuse(engine.store.db, id);
  const { logs } = engine.places;
  const path =
    step === 'setup' ? join(logs, id, `${attempt}.setup.log`) : await gateLog(engine, task, logs);
  const read = path === null ? null : await readEnd(path);
  if (path === null || read === null) {
    const what = step === 'setup' ? 'setup command' : 'gate';
    throw new Refusal(
      'unknown_id',
      `The ${what} has left no log for ${id} on this machine. Old logs are removed; retry the task to get a new one.`,
    );
  }
  return { path, text: engine.mask(read.text), is_cut: read.isCut };
}

/**
 * The log of the red base that blocks the task, else of the newest tree that its work was part of.
 */
async function gateLog(
  engine: EngineHandlerDeps['engine'],
  row: TaskRow,
  logs: string,
): Promise<string | null> {
  const cause = redBaseOf(row);
  const base = cause === null ? null : await engine.git.treeOf(cause.commit);
  const tree = base?.ok === true ? base.value : await lastGatedTree(engine.store.db, row.id);
  if (tree === null || !/^[0-9a-f]+$/u.test(tree)) return null;
  const folder = join(logs, 'gate');
  const names = await readdir(folder).catch(() => []);
  const tries = names
    .filter((name) => name.startsWith(`${tree}.`) && /\.\d+\.log$/u.test(name))
    .sort((a, b) => Number(b.split('.')[1]) - Number(a.split('.')[1]));
  const [newest] = tries;
  return newest === undefined ? null : join(folder, newest);
}

/** Returns null if the file does not exist. */
async function readEnd(path: string): Promise<{ text: string; isCut: boolean } | null> {
  let file;
  try {
    file = await open(path);
  } catch {
    return null;
  }
  try {
    const { size } = await file.stat();
    const length = Math.min(size, shownBytesMax);
    const { buffer } = await file.read({
      buffer: Buffer.alloc(length),
      position: size - length,
    });
    return { text: buffer.toString('utf8'), isCut: length < size };
  } finally {
    await file.close();
  }
}
