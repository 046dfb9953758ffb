// Tasks of a plan that name the same files and do not wait for each other.

import assert from 'node:assert/strict';
import {
  proposeEdges,
  type ProposedEdge,
  sharedFileNames,
} from '../../../server/core/spec/shared-files.ts';

type Words = Parameters<typeof proposeEdges>[0][number];

function task(id: string, description: string, blockedBy: readonly string[] = []): Words {
  return { id, title: `Task ${id}`, description, criteria: [], blockedBy };
}

const rows: readonly {
  readonly when: string;
  readonly tasks: readonly Words[];
  readonly edges: readonly string[];
}[] = [
  { when: 'a plan is empty', tasks: [], edges: [] },
  {
    when: 'tasks name different files',
    tasks: [task('a', 'src/a.ts'), task('b', 'src/b.ts')],
    edges: [],
  },
  {
    when: 'two name one file',
    tasks: [task('a', 'In `src/cart.ts`.'), task('b', 'cart.ts:12')],
    edges: ['b waits for a: cart.ts'],
  },
  {
    when: 'the later one waits already, over another',
    tasks: [task('a', 'cart.ts'), task('m', '', ['a']), task('b', 'cart.ts', ['m'])],
    edges: [],
  },
  {
    when: 'the earlier one waits for the later',
    tasks: [task('a', 'cart.ts', ['b']), task('b', 'cart.ts')],
    edges: [],
  },
  {
    when: 'three name one file: a chain, and no third edge',
    tasks: [task('a', 'cart.ts'), task('b', 'cart.ts'), task('c', 'cart.ts')],
    edges: ['b waits for a: cart.ts', 'c waits for b: cart.ts'],
  },
  {
    when: 'one shares files with two that do not share any',
    tasks: [task('a', 'a.ts'), task('b', 'b.ts'), task('c', 'a.ts b.ts')],
    edges: ['c waits for b: b.ts', 'c waits for a: a.ts'],
  },
  {
    when: 'only criteria name the file',
    tasks: [
      { ...task('a', ''), criteria: ['cart.ts is tested'] },
      { ...task('b', ''), criteria: ['cart.ts is documented'] },
    ],
    edges: ['b waits for a: cart.ts'],
  },
  {
    when: 'many files are shared',
    tasks: [task('a', 'a.ts b.ts c.ts d.ts e.ts'), task('b', 'a.ts b.ts c.ts d.ts e.ts')],
    edges: ['b waits for a: a.ts, b.ts, c.ts and 2 more'],
  },
];

suite('tasks that name the same files', () => {
  for (const { when, tasks, edges } of rows) {
    test(`if ${when}: ${edges.length}`, () => {
      const words = (edge: ProposedEdge): string =>
        `${edge.task} waits for ${edge.waitsFor}: ${sharedFileNames(edge)}`;
      assert.deepEqual(proposeEdges(tasks).map(words), edges);
    });
  }

  test('a large plan gets at most twenty proposals', () => {
    const many = Array.from({ length: 60 }, (_, n) => task(String(n), `x${n % 30}.ts`));
    assert.equal(proposeEdges(many).length, 20);
  });
});
