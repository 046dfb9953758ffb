// `drover search`: its requests, its end, and its output.

import assert from 'node:assert/strict';
import { drover } from '../../doubles/drover.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';

suite('drover search', () => {
  test('it asks until all attempts are searched, and prints each match', async () => {
    const hit = { task_id: 'task-1', title: 'Cart', run_id: null, agent: null, at_ms: 1 };
    const found = { ...hit, offset: 0, type: 'text', text: 'the\u001b[31m cart' };
    const answers = {
      'transcripts.search': ({ after }: { readonly after?: string }) =>
        after === undefined
          ? { hits: [{ ...found, attempt: 2 }], searched: 2, attempts: 3, next: 'older' }
          : { hits: [{ ...found, attempt: 1 }], searched: 1, attempts: 3, next: null },
    };
    const { code, out, err, backend } = await drover(
      ['search', 'cart', 'total'],
      memoryBackend(answers),
    );
    assert.equal(code, 0);
    assert.deepEqual(
      backend.calls.map(({ params }) => params),
      [
        { words: 'cart total', limit: 50 },
        { words: 'cart total', limit: 49, after: 'older' },
      ],
    );
    assert.match(out, /^task-1 {2}attempt 2 {2}Cart\n {4}text: the.* cart\ntask-1 {2}attempt 1/u);
    assert.equal(out.includes('\u001b'), false);
    assert.match(err, /^2 places found in 3 attempts\.$/mu);
    const json = await drover(['search', 'cart', '--json'], memoryBackend(answers));
    const { hits, ...rest } = JSON.parse(json.out) as { hits: readonly { attempt: number }[] };
    assert.deepEqual(
      [hits.map(({ attempt }) => attempt), rest],
      [[2, 1], { searched: 3, attempts: 3 }],
    );
    const few = await drover(['search', 'cart', '-n', '1'], memoryBackend(answers));
    assert.match(few.err, /^1 place found in 2 attempts of 3\.$/mu);
  });
});
