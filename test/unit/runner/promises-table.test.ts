// The pages that name tests of promises: docs/testing.md with the tier of each, SECURITY.md and
// docs/neighbours.md. The tests that they name exist.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../runner/run-job.ts';
import { plantedFaults } from '../../simulation/faults.ts';
import { soakFiles, soakPlans } from '../../tier.ts';

/** No planted fault breaks these promises, but the simulation checks them too. */
const withoutFault = ['bounds'];

suite('the table of promises', () => {
  const page = readFileSync(join(root, 'docs', 'testing.md'), 'utf8');

  function rowsOf(head: string): readonly (readonly string[])[] {
    const table = page.slice(page.indexOf(head)).split('\n\n')[0] ?? '';
    const lines = table.split('\n').slice(2);
    assert.ok(lines.length > 5, `no table with the head ${head}`);
    return lines.map((line) => line.split('|').map((cell) => cell.trim()));
  }
  const named = (cell = ''): readonly string[] =>
    [...cell.matchAll(/`([^`]+)`/gu)].map(([, name = '']) => name);
  const isTest = (name: string): boolean => {
    const path = join(root, 'test', name);
    return existsSync(`${path}.test.ts`) || (existsSync(path) && statSync(path).isDirectory());
  };
  const isOfSoak = (name: string): boolean =>
    soakFiles.has(`test/${name}.test.ts`) || soakPlans.has(name.replace('vscode/in-host/', ''));

  test('each planted fault is listed beside the invariants that it breaks', () => {
    const rows = rowsOf('| invariant | promise |');
    const invariants = new Map(rows.map(([, name = '', , faults]) => [named(name)[0], faults]));
    const told = [...invariants.values()].flatMap(named);
    const names = Object.keys(plantedFaults);
    assert.deepEqual([...new Set(told)].sort(), names.toSorted());
    const broken = new Set(Object.values(plantedFaults).flatMap(({ breaks }) => breaks));
    for (const name of [...broken, ...withoutFault]) assert.ok(invariants.has(name), name);
    const wrong = Object.entries(plantedFaults).filter(([name, { breaks }]) =>
      [...invariants].some(
        ([invariant, faults]) =>
          named(faults).includes(name) && !(breaks as readonly unknown[]).includes(invariant),
      ),
    );
    assert.deepEqual(
      wrong.map(([name]) => name),
      [],
    );
  });

  for (const name of ['SECURITY.md', 'docs/neighbours.md']) {
    test(`every promise of ${name} has tests that exist`, () => {
      const text = readFileSync(join(root, name), 'utf8');
      const table = text.slice(text.lastIndexOf('| promise | tests |')).split('\n\n')[0] ?? '';
      const rows = table
        .split('\n')
        .slice(2)
        .filter((row) => row !== '');
      assert.ok(rows.length > 5);
      for (const row of rows) {
        const tests = named(row.split(' | ').at(-1)).map((path) =>
          path.replace(/^test\/|\.test\.ts$/gu, ''),
        );
        const missing = tests.filter((path) => !isTest(path));
        assert.deepEqual([row, tests.length > 0, missing], [row, true, []]);
      }
    });
  }

  test('each promise is tested in the gate, or in the soak if the table says so', () => {
    for (const [, part, shown, gate, soak] of rowsOf('| part | behavior |')) {
      const words = `${part}: ${shown}`;
      const ofGate = named(gate);
      assert.ok(ofGate.length > 0, words);
      const missing = [...ofGate, ...named(soak)].filter((name) => !isTest(name));
      assert.deepEqual([words, missing], [words, []]);
      const misplaced = [
        ...ofGate.filter(isOfSoak),
        ...named(soak).filter((name) => !isOfSoak(name)),
      ];
      assert.deepEqual([words, misplaced], [words, []]);
    }
  });
});
