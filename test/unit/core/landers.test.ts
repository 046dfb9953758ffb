import assert from 'node:assert/strict';
import {
  type Lander,
  type LanderFacts,
  type LandingRank,
  landingRank,
  whyNoLander,
} from '../../../server/core/work/landers.ts';

const plain: Lander = { labels: [], lands: null, agentsMax: 2, isUnable: false, isLow: false };

suite('the choice of the machine that lands', () => {
  const cases: readonly [string, Partial<Lander>, readonly string[], LandingRank][] = [
    ['one with agents', {}, [], 'lands'],
    ['one without agents, as long as no other does', { agentsMax: 0 }, [], 'last'],
    ['one without agents that is told to', { agentsMax: 0, lands: true }, [], 'lands'],
    ['not one that is told not to', { lands: false }, [], 'never'],
    ['not one without the label, though it is told to', { lands: true }, ['gpu'], 'never'],
    ['not one with some of the labels', { labels: ['gpu'] }, ['gpu', 'os=linux'], 'never'],
    ['one with all labels', { labels: ['gpu', 'x', 'os=linux'] }, ['gpu', 'os=linux'], 'lands'],
    ['not one with a full disk', { labels: ['gpu'], isUnable: true }, ['gpu'], 'never'],
    ['one that is low on memory, as long as no other does', { isLow: true }, [], 'last'],
    ['the same though it is told to', { isLow: true, lands: true }, [], 'last'],
  ];
  for (const [what, more, needed, rank] of cases) {
    test(what, () => assert.equal(landingRank({ ...plain, ...more }, needed), rank));
  }
});

suite('the reason that no machine lands', () => {
  const machine = (name: string, more: Partial<LanderFacts> = {}): LanderFacts => ({
    name,
    labels: [],
    state: 'working',
    busy: 0,
    room: 2,
    note: null,
    lands: false,
    ...more,
  });
  const hera = machine('hera');
  const atlas = machine('atlas', { labels: ['gpu'] });
  const cases: readonly [string, readonly string[], readonly LanderFacts[], string | null][] = [
    ['there is no fleet', ['gpu'], [], null],
    ['one does', ['gpu'], [hera, machine('zeus', { labels: ['gpu'], lands: true })], null],
    ['none is running, which is told elsewhere', [], [machine('zeus', { state: 'dead' })], null],
    [
      'none has the label',
      ['gpu'],
      [hera, machine('mac', { labels: ['os=mac', 'big'] }), { ...atlas, state: 'left' }],
      'No machine with label "gpu" is running, and the gate needs one ([gate] needs): hera has no labels; mac has os=mac, big. Start "drover worker --label gpu" on one that can run it.',
    ],
    [
      'none has both',
      ['gpu', 'big'],
      [atlas],
      'No machine with labels "gpu" and "big" is running, and the gate needs one ([gate] needs): atlas has gpu. Start "drover worker --label gpu --label big" on one that can run it.',
    ],
    [
      'the one with the label cannot',
      ['gpu'],
      [{ ...atlas, note: 'Its disk is full.' }, hera],
      'No machine lands work or runs the gate now (atlas: Its disk is full; hera has no labels).',
    ],
    [
      'all are told not to',
      [],
      [hera],
      'No machine lands work or runs the gate now (hera: see its [fleet] lands).',
    ],
  ];
  for (const [what, needed, machines, said] of cases) {
    test(what, () => assert.equal(whyNoLander(needed, machines), said));
  }

  test('if there are many machines, the first ones are named', () => {
    const many = Array.from({ length: 7 }, (_, at) => machine(`m${at}`));
    assert.match(whyNoLander(['x'], many) ?? '', /m4 has no labels; 2 more\. Start/u);
  });
});
