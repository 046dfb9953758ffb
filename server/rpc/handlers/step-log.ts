// The output of a step of an attempt: the latest log of the gate that tested its work, or of its
// setup command.

import { readdir, open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import { redBaseCause } from '../../core/plan/block-cause.ts';
import type { Answer, Params } from '../../protocol/api.ts';
import type { EngineHandlerDeps } from './engine-deps.ts';
import { lastGatedTree } from '../../store/feed/find-events.ts';
import { taskOrRefuse, type TaskRow } from '../../store/port.ts';

/** Only the end of a log is read, because it contains the reason. */
const shownBytesMax = 2 * 1024 * 1024;

export async function readStepLog(
  { engine }: EngineHandlerDeps,
  { id, attempt, step }: Params<'step.log'>,
): Promise<Answer<'step.log'>> {
  const task = await taskOrRefuse(engine.store.db, id);
  const { logs } = engine.places;
  const paths =
    step === 'setup'
      ? [join(logs, id, `${attempt}.setup.log`)]
      : await gateLogs(engine, task, join(logs, 'gate'));
  const [path] = paths;
  const read = await readAll(paths, step === 'gate');
  if (path === undefined || read === null) {
    const what = step === 'setup' ? 'setup command' : 'gate';
    throw new Refusal(
      'unknown_id',
      `The ${what} has left no log for ${id} on this machine. Old logs are removed; retry the task to get a new one.`,
    );
  }
  return { path, text: engine.mask(read.text), is_cut: read.isCut };
}

/**
 * The logs of the red base that blocks the task, else of the newest tree that its work was part of:
 * one, or one for each stage of the gate.
 */
async function gateLogs(
  engine: EngineHandlerDeps['engine'],
  row: TaskRow,
  folder: string,
): Promise<readonly string[]> {
  const cause = redBaseCause(row);
  const base = cause === null ? null : await engine.git.treeOf(cause.commit);
  const tree = base?.ok === true ? base.value : await lastGatedTree(engine.store.db, row.id);
  if (tree === null || !/^[0-9a-f]+$/u.test(tree)) return [];
  const names = await readdir(folder).catch(() => []);
  const logs = names.filter(
    (name) => name.startsWith(`${tree}.`) && /^\w+\.\d+(?:\.[\w-]+)?\.log$/u.test(name),
  );
  const newest = Math.max(...logs.map(numberOfTry));
  return logs
    .filter((name) => numberOfTry(name) === newest)
    .sort()
    .map((name) => join(folder, name));
}

function numberOfTry(name: string): number {
  return Number(name.split('.')[1]);
}

/**
 * Joins the logs of several stages, each below the name of its stage. Returns null without any log.
 */
async function readAll(
  paths: readonly string[],
  isGate: boolean,
): Promise<{ readonly text: string; readonly isCut: boolean } | null> {
  const texts: string[] = [];
  let isAnyCut = false;
  for (const path of paths) {
    const read = await readEnd(path);
    if (read === null) continue;
    const [, , stage] = basename(path).split('.');
    isAnyCut ||= read.isCut;
    texts.push(isGate && stage !== 'log' ? `Stage ${stage}:\n${read.text}` : read.text);
  }
  return texts.length === 0 ? null : { text: texts.join('\n'), isCut: isAnyCut };
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
