// Which candidates run through the gate, depending on what is known about them.

import assert from 'node:assert/strict';
import {
  decide,
  type Known,
  oddsOf,
  parallelGates,
  type SpeculationFacts,
  type SpeculationStep,
  windowAfter,
  windowAtStart,
} from '../../../../server/core/line/speculate.ts';

const knownBy: Readonly<Record<string, Known>> = {
  g: 'green',
  r: 'red',
  '~': 'running',
  '.': null,
};

/** One letter for each prefix: green, red, running, or unknown. */
function known(letters: string): Known[] {
  return letters.split('').map((letter) => knownBy[letter] ?? null);
}

function factsOf(
  prefixes: string,
  rest: Partial<Omit<SpeculationFacts, 'prefixes' | 'without'>> & { without?: string } = {},
): SpeculationFacts {
  const { without = '', ...others } = rest;
  return {
    odds: known(prefixes).map(() => 0.5),
    others: 0,
    places: 4,
    window: 3,
    gateMs: 60_000,
    ...others,
    prefixes: known(prefixes),
    without: known(without),
  };
}

/** As `1 2 4` for prefixes, `-2` for all but the second, `x` before what stops, `+` if it is open. */
function textOf(step: SpeculationStep): string {
  if (step.kind !== 'gates') return step.kind === 'land' ? `land ${step.through}` : step.kind;
  const name = ({ through, without }: (typeof step.start)[number]): string =>
    without === null ? String(through) : `-${without + 1}`;
  const all = [...step.stop.map((one) => `x${name(one)}`), ...step.start.map(name)];
  return [...all, ...(step.isOpen ? ['+'] : [])].join(' ');
}

const cases: readonly (readonly [string, SpeculationFacts, string])[] = [
  ['all that waits is one candidate', factsOf('....'), '4'],
  ['what has come since is the next one', factsOf('~...'), '4'],
  ['more may come', factsOf('~'), '+'],
  ['nothing runs and nothing waits', factsOf(''), ''],
  ['the window is full', factsOf('~~~.'), ''],
  ['the window is wider than the places', factsOf('~~.', { places: 2, window: 4 }), ''],
  ['one place', factsOf('~.', { places: 1 }), ''],
  ['the gate is short', factsOf('~.', { gateMs: 4_999 }), ''],
  ['the gate is short, and none runs', factsOf('..', { gateMs: 10 }), '2'],
  ['a second try takes the only place', factsOf('..', { places: 1, others: 1 }), ''],
  ['a second try runs beside the others', factsOf('..', { others: 1 }), '2'],
  ['nothing behind a task that will probably fail', factsOf('~.', { odds: [0.4, 0.9] }), ''],
  [
    'an early candidate ends before such a task',
    factsOf('~...', { odds: [0.5, 0.5, 0.3, 0.5] }),
    '2',
  ],
  ['such a task comes alone', factsOf('~..', { odds: [0.5, 0.3, 0.5] }), '2'],
  ['the first candidate takes all', factsOf('..', { odds: [0.3, 0.5] }), '2'],
  ['the longest green one lands', factsOf('g~g.'), 'land 3'],
  ['green behind red lands as well: its tree has passed', factsOf('.rg'), 'land 3'],
  ['one task is red by itself', factsOf('r~.'), 'alone'],
  ['halved with one place', factsOf('...r', { places: 1 }), '2 +'],
  ['cut points in all places', factsOf('.......r'), '2 3 5 6 +'],
  ['each prefix, and guesses', factsOf('..r.....', { without: '........' }), '1 2 -3 -2 +'],
  [
    'the one that fails most is guessed first',
    factsOf('..r..', { without: '.....', odds: [0.2, 0.5, 0.5, 0.5, 0.5] }),
    '1 2 -1 -3 +',
  ],
  ['guesses are within the window', factsOf('..r..', { without: '.....', window: 1 }), '1 2 -3 +'],
  ['no guess if nobody waits behind', factsOf('..r', { without: '...' }), '1 2 +'],
  ['what contains a red one ends', factsOf('..r~~', { without: '.....', places: 2 }), 'x4 x5 +'],
  ['it is before the cut', factsOf('.r.r.', { without: '.~~~.', window: 3 }), 'x-3 x-4 1'],
];

suite('the choice of merge candidates to gate', () => {
  for (const [name, facts, expected] of cases) {
    test(name, () => assert.equal(textOf(decide(facts)), expected));
  }

  test('the culprit of 27 tasks is found after three rounds with two cut points', () => {
    for (let culprit = 1; culprit <= 27; culprit += 1) {
      let [from, to] = [0, 27];
      let rounds = 0;
      while (to - from > 1) {
        const step = decide(factsOf(`${'.'.repeat(to - from - 1)}r`, { places: 2 }));
        assert.equal(step.kind, 'gates');
        const cuts = step.kind === 'gates' ? step.start.map(({ through }) => from + through) : [];
        assert.equal(cuts.length, Math.min(2, to - from - 1));
        to = Math.min(to, ...cuts.filter((cut) => cut >= culprit));
        from = Math.max(from, ...cuts.filter((cut) => cut < culprit));
        rounds += 1;
      }
      assert.deepEqual([from, to, rounds], [culprit - 1, culprit, 3]);
    }
  });

  test('the window grows with landings up to the number of gate folders, and is halved by a red gate', () => {
    assert.deepEqual([windowAtStart(1), windowAtStart(2), windowAtStart(8)], [1, 2, 4]);
    assert.deepEqual([windowAfter('landed', 3, 4), windowAfter('landed', 4, 4)], [4, 4]);
    assert.deepEqual([windowAfter('red', 5, 8), windowAfter('red', 1, 8)], [2, 1]);
  });

  test('the odds come from the results of the same agent in the same epic', () => {
    assert.equal(oddsOf({ runs: 0, passes: 0 }), 0.5);
    assert.equal(oddsOf({ runs: 1, passes: 0 }), 1 / 3);
    assert.equal(oddsOf({ runs: 8, passes: 8 }), 0.9);
  });

  test('the default is half of the cores, at most three', () => {
    const cores = [null, 1, 2, 4, 6, 64];
    assert.deepEqual(cores.map(parallelGates), [1, 1, 1, 2, 3, 3]);
  });
});
