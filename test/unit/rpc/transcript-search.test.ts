// The search in transcripts over real logs: newest attempts first, sub-tasks too, bounded, and continued.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '../../../server/agents/kit/log/event-log.ts';
import { findInLog } from '../../../server/agents/kit/log/search-log.ts';
import type { TranscriptSearch } from '../../../server/core/history/transcript-search.ts';
import { type AgentOutput, noOutput } from '../../../server/output/agent-output.ts';
import type { DataHandlerDeps } from '../../../server/rpc/handlers/data-deps.ts';
import { searchHandlers } from '../../../server/rpc/handlers/data-search.ts';
import { attemptLogFile } from '../../../server/store/work/attempt-log.ts';
import { removeFolder } from '../../remove-folder.ts';
import {
  addAttempt,
  addTasks,
  memoryStore,
  refusalOf,
  type TestStore,
} from '../store/memory-store.ts';

suite('search in transcripts', () => {
  let folder: string;
  let project: TestStore;
  let ids: Readonly<Record<string, string>>;
  /** Milliseconds that the search of one log takes. */
  let logMs = 0;
  let output: AgentOutput;

  setup(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drover-transcripts-'));
    project = await memoryStore();
    ids = await addTasks(project, [
      { title: 'Old' },
      { title: 'New' },
      { title: 'Part', parent: 'New' },
      { title: 'Deep', parent: 'Part' },
    ]);
    logMs = 0;
    output = noOutput;
  });
  teardown(async () => {
    await project.close();
    removeFolder(folder);
  });

  async function attempt(title: string, number: number, startedMs: number): Promise<void> {
    const more = { number, started_at_ms: startedMs, run_id: null, agent: 'claude' };
    await addAttempt(project, ids[title] ?? '', more);
  }

  async function say(title: string, number: number, words: string, part = title): Promise<void> {
    const file = attemptLogFile(ids[title] ?? '', number, ids[part] ?? '');
    const log = openEventLog(join(folder, file), { maxBytes: 1e6, now: () => 5 });
    log.append({ type: 'text', text: 'first line' });
    log.append({ type: 'text', text: words });
    await log.close();
  }

  const search = (params: {
    readonly words: string;
    readonly after?: string;
    readonly limit?: number;
  }): Promise<TranscriptSearch> => {
    const find = async (...asked: Parameters<typeof findInLog>): ReturnType<typeof findInLog> => {
      project.sources.nowMs += logMs;
      return await findInLog(...asked);
    };
    const deps = { store: project.store, logs: folder, output, log: { find } };
    return searchHandlers(deps as unknown as DataHandlerDeps)['transcripts.search'](params);
  };

  test('a search names the task, the attempt and the place, newest first, and parts of a task', async () => {
    await attempt('Old', 1, 1_000);
    await attempt('Old', 2, 3_000);
    await attempt('New', 1, 2_000);
    await say('Old', 1, 'the cart is empty');
    await say('Old', 2, 'The Cart again');
    await say('New', 1, 'a cart of its part', 'Part');
    await say('New', 1, 'and CART below it', 'Deep');
    const { hits, ...rest } = await search({ words: ' cart ' });
    assert.deepEqual(
      hits.map(({ title, attempt: number, text }) => [title, number, text]),
      [
        ['Old', 2, 'The Cart again'],
        ['Part', 1, 'a cart of its part'],
        ['Deep', 1, 'and CART below it'],
        ['Old', 1, 'the cart is empty'],
      ],
    );
    assert.deepEqual(rest, { searched: 3, attempts: 3, next: null });
    const [first] = hits;
    assert.deepEqual(first, {
      task_id: ids['Old'],
      title: 'Old',
      attempt: 2,
      run_id: null,
      agent: 'claude',
      at_ms: 5,
      offset: `${JSON.stringify({ at: 5, type: 'text', text: 'first line' })}\n`.length,
      type: 'text',
      text: 'The Cart again',
    });
  });

  test('a search returns after one second, and the next request continues from there', async () => {
    for (let number = 1; number <= 6; number += 1) {
      await attempt('Old', number, number * 1_000);
      await say('Old', number, `cart ${number}`);
    }
    logMs = 400;
    const found: number[] = [];
    let rounds = 0;
    let { next } = { next: null as string | null };
    do {
      const answer = await search({ words: 'cart', ...(next !== null && { after: next }) });
      found.push(...answer.hits.map((hit) => hit.attempt));
      assert.ok(answer.searched < 6);
      next = answer.next;
      rounds += 1;
    } while (next !== null);
    assert.deepEqual(found, [6, 5, 4, 3, 2, 1]);
    assert.ok(rounds > 1, `${rounds} rounds`);
  });

  test('a search returns no more matches than requested, and continues after the last one', async () => {
    for (let number = 1; number <= 3; number += 1) {
      // If the times are equal, the number decides.
      await attempt('Old', number, 1_000);
      await say('Old', number, 'cart');
    }
    const first = await search({ words: 'cart', limit: 2 });
    assert.deepEqual([first.hits.map((hit) => hit.attempt), first.searched], [[3, 2], 2]);
    const rest = await search({ words: 'cart', limit: 2, after: first.next ?? '' });
    assert.deepEqual([rest.hits.map((hit) => hit.attempt), rest.next], [[1], null]);
  });

  test("it asks once for other machines' stored logs that are not on this disk", async () => {
    await attempt('Old', 1, 1_000);
    await attempt('New', 1, 2_000);
    await say('New', 1, 'cart here');
    const asked: string[][] = [];
    output = {
      ...noOutput,
      find: async (logs) => {
        asked.push(logs.map(({ file }) => file));
        const line = { offset: 7, at: 8, type: 'output', excerpt: 'cart elsewhere' };
        return new Map(logs.slice(-1).map(({ file }) => [file, line]));
      },
    };
    const { hits } = await search({ words: 'cart' });
    assert.deepEqual(
      hits.map(({ title, offset, text }) => [title, offset, text]),
      [
        ['New', hits[0]?.offset, 'cart here'],
        ['Old', 7, 'cart elsewhere'],
      ],
    );
    const own = [ids['New'], ids['Part'], ids['Deep']].map((id) =>
      attemptLogFile(ids['New'] ?? '', 1, id ?? ''),
    );
    assert.deepEqual(asked, [
      [own[1], own[2], attemptLogFile(ids['Old'] ?? '', 1, ids['Old'] ?? '')],
    ]);
  });

  test('empty search terms and an invalid place are refused', async () => {
    assert.match((await refusalOf(search({ words: '  ' }))).message, /"words" contains no word/);
    for (const after of ['', 'x', '1 2', '1 2 3 4 5\n', '-1 1 a']) {
      assert.match((await refusalOf(search({ words: 'a', after }))).message, /"after"/, after);
    }
  });
});
