// The schemas of requests: accepted parameters, the text of refusals, and the guarantees for a
// client in the same process.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../../../server/core/failure.ts';
import { agentShapes } from '../../../server/protocol/requests/agents.ts';
import {
  readAgentParams,
  readParams,
  requestShapes,
} from '../../../server/protocol/requests/read.ts';
import { requestsPage } from '../../docs/requests-page.ts';

const shapes = { ...requestShapes, ...agentShapes };

type Read = Result<unknown, string>;

function errorOf(read: Read): string {
  assert(!read.ok);
  return read.error;
}

suite('parameters of requests', () => {
  test('keys that no schema names are dropped, and ids lose surrounding space', () => {
    const read = readParams('task.show', { id: ' task-1 ', more: true });
    assert.deepEqual(read, { ok: true, value: { id: 'task-1' } });
  });

  test('missing parameters count as none', () => {
    for (const raw of [undefined, null, {}]) {
      assert.deepEqual(readParams('epic.list', raw), { ok: true, value: {} });
    }
  });

  const refused: readonly (readonly [() => Read, RegExp])[] = [
    [() => readParams('task.show', []), /^The parameters of task.show must be an object\.$/],
    [() => readParams('task.show', {}), /^task.show needs the parameter id\.$/],
    [() => readParams('task.show', { id: null }), /^"id" must be a string\.$/],
    [() => readParams('task.add', { title: 'x', epic: 5 }), /^"epic" must be a string\.$/],
    [() => readParams('task.add', { title: 'x', set: { a: 1 } }), /^"set.a" must be a string\.$/],
    [() => readParams('task.add', { title: 'x', set: [] }), /^"set" must be strings by name\.$/],
    [() => readParams('task.add', { title: 'x', plan: 1 }), /^"plan" must be true or false\.$/],
    [() => readParams('task.hint', { id: 'x', text: 'a\0' }), /"text" .* without NUL/],
    [() => readParams('diff', { id: 'x', snapshot: 0 }), /"snapshot" .* whole number from 1 to/],
    [() => readParams('diff', { id: 'x', snapshot: 1.5 }), /"snapshot" .* whole number from 1 to/],
    [() => readParams('runs.list', { limit: 5_001 }), /"limit" .* from 1 to 5000\./],
    [() => readParams('step.log', { id: 'x', attempt: 1, step: 'x' }), /one of setup, gate/],
    [() => readAgentParams('agent.ask', { text: 'x', choices: 'y' }), /"choices" must be a list/],
  ];
  for (const [read, sentence] of refused) {
    test(`refused: ${sentence.source}`, () => assert.match(errorOf(read()), sentence));
  }

  test('the page of requests matches the schemas', () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/requests.md'), 'utf8');
    assert.equal(page, requestsPage(), 'run npm run docs');
    for (const name of Object.keys(requestShapes)) assert.ok(page.includes(`\`${name}\``), name);
  });

  test('short or small values pass every bound, so a command need not load the schemas', () => {
    const short = 'a'.repeat(64);
    for (const [name, shape] of Object.entries(shapes)) {
      for (const [key, part] of Object.entries(shape)) {
        for (const count of [1, 64]) {
          const isNumber = part.safeParse(2).success;
          if (isNumber) assert.deepEqual(part.safeParse(count).data, count, `${name}: ${key}`);
        }
        const takesStrings = part.safeParse('auto').success || part.safeParse('setup').success;
        if (!takesStrings) continue;
        const read = part.safeParse(short);
        const isChoice = !read.success && read.error.issues[0]?.code === 'invalid_value';
        if (!isChoice) assert.deepEqual(read.data, short, `${name}: ${key}`);
      }
    }
  });
});
