// The search in a log: a person's words are found in messages and actions, wherever the log keeps
// them.

import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '../../../server/agents/kit/log/event-log.ts';
import { readLog } from '../../../server/agents/kit/log/event-log-reader.ts';
import { findInLog, type FoundLine } from '../../../server/agents/kit/log/search-log.ts';
import type { AgentEvent } from '../../../server/protocol/agent-events.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('searching a log', () => {
  let folder: string;
  let path: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-search-'));
    path = join(folder, '1.ndjson');
  });
  teardown(() => removeFolder(folder));

  async function write(events: readonly AgentEvent[], maxBytes = 1e8): Promise<void> {
    const log = openEventLog(path, { maxBytes, now: () => 17 });
    for (const event of events) {
      log.append(event);
      if (log.pendingBytes > 1e6) await log.flush();
    }
    await log.close();
  }
  const find = (...words: readonly string[]): Promise<FoundLine | null> => findInLog(path, words);
  const text = (words: string): AgentEvent => ({ type: 'text', text: words });
  const read = (offset: number): string => {
    const [event] = readLog(path, { fromOffset: offset, limit: 1 }).events;
    return event !== undefined && 'text' in event ? event.text : '';
  };

  test('the search finds the first line with all words, in any case, and its offset', async () => {
    await write([text('The Cart is empty'), text('the total of the CART'), text('cart total')]);
    const found = await find('cart', 'total');
    assert.deepEqual(
      [found?.type, found?.at, found?.excerpt],
      ['text', 17, 'the total of the CART'],
    );
    assert.equal(read(found?.offset ?? -1), 'the total of the CART');
    assert.equal(await find('cart', 'shop'), null);
  });

  test("the search finds a tool's input and its result", async () => {
    const input = { file_path: 'src/auth.ts', edits: [{ new_string: 'const limit = "a\\b";' }] };
    await write([
      { type: 'tool_call', id: 'call-1', name: 'Edit', title: 'Edit auth.ts', input },
      { type: 'tool_result', id: 'call-1', isError: false, text: 'The file has been updated.' },
    ]);
    assert.equal((await find('src/auth.ts'))?.type, 'tool_call');
    assert.equal((await find('"a\\b"'))?.type, 'tool_call');
    assert.equal((await find('updated'))?.type, 'tool_result');
  });

  test('words are not patterns, and the format of the log is not searched', async () => {
    await write([text('price (net) 3.50 $'), { type: 'exit', code: 0, signal: null }]);
    assert.notEqual(await find('(net)'), null);
    assert.notEqual(await find('3.50'), null);
    assert.equal(await find('3x50'), null);
    for (const form of ['text', 'type', 'exit', '"type":', 'null']) {
      assert.equal(await find(form), null, form);
    }
  });

  test('letters beyond ASCII are matched in any case, with offsets in bytes', async () => {
    await write([text('Grüße aus Köln 😀'), text('ÄPFEL und Öl')]);
    const found = await find('äpfel', 'öl');
    assert.equal(read(found?.offset ?? -1), 'ÄPFEL und Öl');
    assert.equal(found?.excerpt, 'ÄPFEL und Öl');
  });

  test('the search works in the tail of a log that has lost its middle, at the offset that readers use', async () => {
    const lines = Array.from({ length: 2_000 }, (_, index) =>
      text(`line ${index} ${'x'.repeat(80)}`),
    );
    await write([...lines, text('the needle'), ...lines.slice(0, 20)], 64 * 1024);
    const found = await find('needle');
    assert.equal(read(found?.offset ?? -1), 'the needle');
    assert.equal(await find('line 1000 '.trim(), '1000'), null, 'its middle is not there');
  });

  test('a line that is longer than one read is searched as a whole', async () => {
    await write([text(`${'x '.repeat(900_000)}needle`), text('behind it: thread')]);
    const found = await find('needle');
    assert.equal(found?.offset, 0);
    assert.match(found?.excerpt ?? '', /^….*needle$/u);
    assert.equal(read((await find('thread'))?.offset ?? -1), 'behind it: thread');
  });

  test('a missing log, and lines of another program, do not match', async () => {
    assert.equal(await find('anything'), null);
    await write([text('fine')]);
    appendFileSync(path, 'needle without JSON\n"needle"\n{"at":1,"text":"needle"}\n');
    assert.equal(await find('needle'), null);
  });
});
