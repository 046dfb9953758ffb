// A project whose last run had a thousand attempts: written as the engine would have, without agents.

import { mkdirSync, writeFileSync } from 'node:fs';
import { storeSources } from '../../../server/project/store-sources.ts';
import { openStore } from '../../../server/store/open.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import type { Store } from '../../../server/store/port.ts';
import { tablesOf } from '../../tables.ts';

const runId = 'run-long';
const atOnce = 100;
const stepMs = 60_000;

const linesOfLog = 1_000;

/**
 * The transcripts of all attempts, as an agent that reads, edits and tests writes them: about 200 kB
 * each. A word that none of them has elsewhere is in the oldest one.
 */
export async function addTranscripts(
  database: string,
  logs: string,
  needle: string,
): Promise<void> {
  const { store, close } = await openStore(database, storeSources, { durability: 'grouped' });
  const rows = await tablesOf(store.db)
    .selectFrom('attempts')
    .select(['task_id', 'number'])
    .orderBy('started_at_ms')
    .execute();
  await close();
  const lines = Array.from({ length: linesOfLog }, (_, index) => transcriptLine(index));
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  for (const [index, { task_id: id, number }] of rows.entries()) {
    const own = { type: 'text', text: index === 0 ? `Here is the ${needle}.` : 'Done.', at: 1 };
    mkdirSync(`${logs}/${id}`, { recursive: true });
    writeFileSync(`${logs}/${id}/${number}.ndjson`, `${text}${JSON.stringify(own)}\n`);
  }
}

function transcriptLine(index: number): object {
  const at = 1_700_000_000_000 + index;
  const file = `src/part-${index}/cart.ts`;
  switch (index % 4) {
    case 0:
      return { type: 'text', text: `I read ${file} and change how the total is rounded.`, at };
    case 1: {
      const input = {
        file_path: file,
        old_string: 'return sum;',
        new_string: 'return round(sum);',
      };
      return {
        type: 'tool_call',
        id: `call-${index}`,
        name: 'Edit',
        title: `Edit ${file}`,
        input,
        at,
      };
    }
    case 2: {
      const result = `The file ${file} has been updated.\n${'    12→  return round(sum);\n'.repeat(6)}`;
      return { type: 'tool_result', id: `call-${index - 1}`, isError: false, text: result, at };
    }
    default:
      return { type: 'output', stream: 'stdout', text: `✔ ${file} (${index} ms)`, at };
  }
}

/** So many tasks, each done in one attempt; the database must not be in use. */
export async function addLongRun(database: string, tasks: number): Promise<void> {
  const { store, close } = await openStore(database, storeSources, { durability: 'grouped' });
  const startedMs = Date.now() - tasks * stepMs;
  await store.transaction(async (tx) => {
    await tablesOf(tx)
      .insertInto('runs')
      .values({
        id: runId,
        state: 'finished',
        started_at_ms: startedMs,
        ended_at_ms: Date.now(),
        workers: 4,
        land: 'task',
        target_branch: 'main',
        line: 'main',
        base_sha: 'a'.repeat(40),
        flags: '{}',
      })
      .execute();
    const data = { run: runId, workers: 4, target: 'main', land: 'task' };
    await store.append(tx, { type: 'run.started', runId, data });
  });
  for (let from = 0; from < tasks; from += atOnce) {
    await addDone(store, from, Math.min(from + atOnce, tasks), startedMs);
  }
  await store.transaction((tx) =>
    store.append(tx, { type: 'run.finished', runId, data: { state: 'finished' } }),
  );
  await close();
}

async function addDone(store: Store, from: number, to: number, startedMs: number): Promise<void> {
  await store.transaction(async (tx) => {
    for (let index = from; index < to; index += 1) {
      const { id: taskId } = await addTask(tx, store.sources, { title: `Part ${index} is done` });
      const data = { attempt: 1, agent: 'demo' };
      const move = (status: 'claimed' | 'in_progress' | 'completed', event: string) =>
        store.transition(tx, { taskId, to: status, event, runId, data });
      await move('claimed', 'task.claimed');
      await move('in_progress', 'task.started');
      await tablesOf(tx)
        .insertInto('attempts')
        .values({
          task_id: taskId,
          number: 1,
          epoch: 1,
          state: 'succeeded',
          agent: 'demo',
          session_id: taskId,
          branch: `drover/${taskId}`,
          started_at_ms: startedMs + index * stepMs,
          ended_at_ms: startedMs + (index + 1) * stepMs,
          run_id: runId,
        })
        .execute();
      for (const type of ['worktree.ready', 'agent.ended', 'task.committed']) {
        await store.append(tx, { type, taskId, runId, data: { attempt: 1, outcome: 'done' } });
      }
      await move('completed', 'task.completed');
    }
  });
}
