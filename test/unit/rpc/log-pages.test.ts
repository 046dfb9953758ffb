// Pages of a real log on a disk: forwards, backwards, and waiting for lines that have not been
// written yet.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog, type EventLog } from '../../../server/agents/kit/log/event-log.ts';
import { readLog, readLogBefore } from '../../../server/agents/kit/log/event-log-reader.ts';
import { onLogGrowth } from '../../../server/agents/kit/log/log-growth.ts';
import { noOutput } from '../../../server/output/agent-output.ts';
import type { LogPageView } from '../../../server/protocol/api.ts';
import { logHandlers } from '../../../server/rpc/handlers/data-log.ts';
import { openStore } from '../../../server/store/open.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import { ManualClock } from '../../durable/manual-clock.ts';
import { removeFolder } from '../../remove-folder.ts';
import { addAttempt, testSources, type TestStore } from '../store/memory-store.ts';
import type { DataHandlerDeps } from '../../../server/rpc/handlers/data-deps.ts';
import { tablesOf } from '../../tables.ts';
import { type AttemptRow } from '../../../server/store/port.ts';

suite('pages of a log', () => {
  let folder: string;
  let project: TestStore;
  let clock: ManualClock;
  let log: EventLog;
  let id: string;
  let read: (params: object) => Promise<LogPageView>;

  setup(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drover-pages-'));
    clock = new ManualClock();
    const sources = { ...testSources(), clock };
    project = { ...(await openStore(':memory:', sources)), sources };
    const { store } = project;
    id = (await store.transaction((tx) => addTask(tx, sources, { title: 'Do it' }))).id;
    log = openEventLog(join(folder, id, '1.ndjson'), { maxBytes: 1e8, now: () => 1 });
    const deps = {
      store,
      logs: folder,
      output: noOutput,
      log: { read: readLog, readBefore: readLogBefore, onGrowth: onLogGrowth },
    } as unknown as DataHandlerDeps;
    read = (params) => logHandlers(deps)['log.read']({ id, ...params });
  });
  teardown(async () => {
    await log.close();
    await project.close();
    removeFolder(folder);
  });

  async function begin(state: AttemptRow['state'] = 'running'): Promise<void> {
    await addAttempt(project, id, { agent: 'demo', state });
  }

  async function say(...texts: readonly string[]): Promise<void> {
    for (const text of texts) log.append({ type: 'text', text });
    await log.flush();
  }

  /** Something happens that an event reports. */
  async function happen(): Promise<void> {
    const { store } = project;
    await store.transaction((tx) => store.append(tx, { type: 'agent.ended', taskId: id }));
  }

  const textsOf = (page: LogPageView): unknown[] =>
    page.events.map((line) => ('text' in line ? line.text : null));
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Lets the request reach the point where it waits. */
  async function untilWaiting(): Promise<void> {
    while (clock.waiting === 0) await turn();
  }

  test('a log is opened at the end and read backward', async () => {
    await begin();
    await say('one', 'two', 'three', 'four');
    const end = await read({ before: Number.MAX_SAFE_INTEGER, limit: 2 });
    assert.deepEqual(textsOf(end), ['three', 'four']);
    assert.equal(end.next_offset, end.size);
    const before = await read({ before: end.offset, limit: 2 });
    assert.deepEqual(textsOf(before), ['one', 'two']);
    assert.deepEqual([before.offset, before.next_offset], [0, end.offset]);
    const none = await read({ before: 0, limit: 2, wait_ms: 1_000 });
    assert.deepEqual([none.events, none.offset, none.size], [[], 0, end.size]);
  });

  test('existing lines are returned at once, whatever wait was allowed', async () => {
    await begin();
    await say('one');
    const page = await read({ offset: 0, wait_ms: 30_000 });
    assert.deepEqual(textsOf(page), ['one']);
    assert.equal(clock.waiting, 0);
  });

  test('new lines are returned as soon as they are written', async () => {
    await begin();
    await say('one');
    const { next_offset: offset } = await read({});
    const waiting = read({ offset, wait_ms: 30_000 });
    await untilWaiting();
    await say('two');
    const page = await waiting;
    assert.deepEqual([textsOf(page), page.ended, page.offset], [['two'], false, offset]);
    assert.equal(clock.waiting, 0, 'no timer is left behind');
  });

  test('of many new lines, only the newest are returned if requested, and nothing twice', async () => {
    await begin();
    await say('one', 'two', 'three', 'four');
    const page = await read({ offset: 0, limit: 2, newest: true, wait_ms: 30_000 });
    assert.deepEqual([textsOf(page), page.next_offset], [['three', 'four'], page.size]);
    assert.ok(page.offset > 0);
    const waiting = read({ offset: page.size, limit: 2, newest: true, wait_ms: 30_000 });
    await untilWaiting();
    await say('five');
    const next = await waiting;
    assert.deepEqual([textsOf(next), next.offset], [['five'], page.size]);
  });

  test('the end of the attempt is an answer', async () => {
    await begin();
    const waiting = read({ offset: 0, wait_ms: 30_000 });
    await untilWaiting();
    await tablesOf(project.store.db).updateTable('attempts').set({ state: 'failed' }).execute();
    await happen();
    await clock.advance(500);
    assert.equal((await waiting).ended, true);
  });

  test('an attempt that starts during the wait is followed', async () => {
    const waiting = read({ offset: 0, wait_ms: 30_000 });
    await untilWaiting();
    await begin();
    await happen();
    await clock.advance(500);
    await untilWaiting();
    await say('one');
    const page = await waiting;
    assert.deepEqual([page.attempt, textsOf(page)], [1, ['one']]);
  });

  test('after the wait, the answer is an empty page', async () => {
    await begin();
    const waiting = read({ offset: 0, wait_ms: 2_500 });
    for (let seconds = 0; seconds < 3; seconds += 1) {
      await untilWaiting();
      await clock.advance(1_000);
    }
    const page = await waiting;
    assert.deepEqual([page.events, page.ended, page.next_offset], [[], false, 0]);
  });

  test('a page is bounded in bytes', async () => {
    await begin('failed');
    const text = 'x'.repeat(20_000);
    for (let part = 0; part < 20; part += 1) await say(...Array(20).fill(text));
    const pages: LogPageView[] = [];
    for (let offset = 0, ended = false; !ended;) {
      const page = await read({ offset });
      pages.push(page);
      ({ next_offset: offset, ended } = page);
    }
    const events = pages.flatMap((page) => page.events);
    assert.equal(events.length, 400);
    for (const page of pages) assert.ok(page.next_offset - page.offset < 5 * 1024 * 1024);
    const end = await read({ before: Number.MAX_SAFE_INTEGER });
    assert.ok(end.events.length > 0 && end.size - end.offset < 5 * 1024 * 1024);
  });
});
