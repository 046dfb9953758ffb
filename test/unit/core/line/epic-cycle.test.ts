import assert from 'node:assert/strict';
import { epicCycle, type EpicWait } from '../../../../server/core/line/epic-cycle.ts';

const waits = (...pairs: readonly string[]): readonly EpicWait[] =>
  pairs.map((pair) => {
    const [epic = '', on = ''] = pair;
    return { epic, on, task: epic.toLowerCase(), blocker: on.toLowerCase() };
  });

suite('epics that wait for each other', () => {
  const cases: readonly [string, readonly string[], string | null][] = [
    ['none', [], null],
    ['one for another', ['AB'], null],
    ['two for each other', ['AB', 'BA'], 'AB BA'],
    ['three in a circle', ['AB', 'BC', 'CA'], 'AB BC CA'],
    ['the shortest way', ['AB', 'BC', 'CA', 'BA'], 'AB BA'],
    ['a circle beside it', ['AB', 'BC', 'CB'], null],
    ['two ways to one', ['AB', 'AC', 'BD', 'CD'], null],
  ];
  for (const [what, pairs, found] of cases)
    test(what, () => {
      const cycle = epicCycle('A', waits(...pairs));
      assert.equal(cycle?.map(({ epic, on }) => `${epic}${on}`).join(' ') ?? null, found);
    });
});
