// Machines of a fleet that store and read agents' output: each with its own folder of logs on one real database.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventLog, openEventLog } from '../../server/agents/kit/log/event-log.ts';
import { readLog, readLogBefore } from '../../server/agents/kit/log/event-log-reader.ts';
import { onLogGrowth } from '../../server/agents/kit/log/log-growth.ts';
import { findInLog } from '../../server/agents/kit/log/search-log.ts';
import type { AgentOutput } from '../../server/output/agent-output.ts';
import { createFleetOutput } from '../../server/output/fleet-output.ts';
import { filesOfLog } from '../../server/output/log-files.ts';
import { storeSources } from '../../server/project/store-sources.ts';
import type { TranscriptSearch } from '../../server/core/history/transcript-search.ts';
import type { LogPageView } from '../../server/protocol/api.ts';
import { logHandlers } from '../../server/rpc/handlers/data-log.ts';
import { searchHandlers } from '../../server/rpc/handlers/data-search.ts';
import { workHandlers } from '../../server/rpc/handlers/data-work.ts';
import type { Store } from '../../server/store/port.ts';
import { openPostgresStore } from '../../server/store/postgres/open.ts';
import type { DataHandlerDeps } from '../../server/rpc/handlers/data-deps.ts';
import { removeFolder } from '../remove-folder.ts';
import { tablesOf } from '../tables.ts';

export interface Machine {
  readonly id: string;
  readonly logs: string;
  readonly store: Store;
  readonly output: AgentOutput;
  /** What was reported while the machine stored the output. */
  readonly reports: string[];
  read(id: string, params?: object): Promise<LogPageView>;
  prompt(id: string): Promise<string>;
  search(words: string): Promise<TranscriptSearch>;
  /** The whole log as this machine reads it, page after page. */
  texts(id: string): Promise<string[]>;
  close(): Promise<void>;
}

const folders: string[] = [];
const open: Machine[] = [];

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'drover-output-'));
  folders.push(folder);
  return folder;
}

/** Closes everything that a test has opened, removes the folders, and resolves with the reports. */
export async function closeMachines(): Promise<string[]> {
  const machines = open.splice(0);
  for (const machine of machines) await machine.close();
  for (const folder of folders.splice(0)) removeFolder(folder);
  return machines.flatMap((machine) => machine.reports);
}

export async function openMachine(
  url: string,
  id: string,
  options: { readonly logs?: string; readonly ships?: boolean; readonly listens?: boolean } = {},
): Promise<Machine> {
  const { logs = newFolder(), ships = true, listens = true } = options;
  const opened = await openPostgresStore(url, storeSources, { listen: listens });
  const { store, onOutput } = opened;
  const output = createFleetOutput({ store, logs, machineId: id, onOutput });
  const reports: string[] = [];
  if (ships) output.beginShipping((error, where) => reports.push(`${where}: ${String(error)}`));
  const deps = {
    store,
    logs,
    output,
    log: { read: readLog, readBefore: readLogBefore, find: findInLog, onGrowth: onLogGrowth },
  } as unknown as DataHandlerDeps;
  const read = (task: string, params: object = {}): Promise<LogPageView> =>
    logHandlers(deps)['log.read']({ id: task, ...params });
  const machine: Machine = {
    id,
    logs,
    store,
    output,
    reports,
    read,
    search: (words) => searchHandlers(deps)['transcripts.search']({ words }),
    prompt: async (task) => (await workHandlers(deps)['log.prompt']({ id: task })).prompt,
    texts: async (task) => {
      const found: string[] = [];
      for (let offset = 0; ;) {
        const page = await read(task, { offset });
        for (const event of page.events) found.push(String('text' in event ? event.text : ''));
        if (page.events.length === 0) return found;
        offset = page.next_offset;
      }
    },
    close: async () => {
      await output.close();
      await opened.close();
    },
  };
  open.push(machine);
  return machine;
}

/** A task whose first attempt is running on that machine. */
export async function beginAttempt(store: Store, id: string, machine: string): Promise<string> {
  await tablesOf(store.db)
    .insertInto('tasks')
    .values({ id, title: id, status: 'in_progress', created_at: 1, updated_at: 1 })
    .execute();
  const row = { number: 1, epoch: 1, agent: 'demo', session_id: 's', session_started: 1 };
  await tablesOf(store.db)
    .insertInto('attempts')
    .values({ ...row, branch: 'b', task_id: id, state: 'running', machine, started_at_ms: 1 })
    .execute();
  return fileOf(id);
}

export const fileOf = (id: string): string => `${id}/1.ndjson`;

export async function endAttempt(store: Store, id: string, atMs = Date.now()): Promise<void> {
  await store.transaction(async (tx) => {
    const set = { state: 'failed', ended_at_ms: atMs } as const;
    await tablesOf(tx).updateTable('attempts').set(set).where('task_id', '=', id).execute();
    await store.append(tx, { type: 'agent.ended', taskId: id });
  });
}

export async function openLog(machine: Machine, id: string, maxBytes = 1e8): Promise<EventLog> {
  return openEventLog(join(machine.logs, fileOf(id)), { maxBytes });
}

export async function say(log: EventLog, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) log.append({ type: 'text', text });
  await log.flush();
}

export async function stored(machine: Machine, id: string): Promise<void> {
  await machine.output.flush(join(machine.logs, fileOf(id)));
}

/** Every file of the log as it is on the machine's disk. */
export function filesOn(machine: Machine, id: string): Record<string, string> {
  const files = filesOfLog(machine.logs, fileOf(id));
  return Object.fromEntries(files.map((file) => [file.file, readFileSync(file.path, 'utf8')]));
}

export function assertSameFiles(writer: Machine, reader: Machine, id: string): void {
  const written = filesOn(writer, id);
  const read = filesOn(reader, id);
  assert.deepEqual(Object.keys(read), Object.keys(written));
  for (const [name, text] of Object.entries(written))
    assert.ok(read[name] === text, `${name} of ${text.length} differs: ${read[name]?.length}`);
}
