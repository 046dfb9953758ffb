import assert from 'node:assert/strict';
import {
  type MachineFacts,
  neededLabels,
  suits,
  whyItsMachine,
  whyNoMachine,
} from '../../../server/core/work/machines.ts';

suite('the choice of a machine for a task', () => {
  test("a task's labels name its requirements", () => {
    const cases: readonly [readonly string[], readonly string[]][] = [
      [[], []],
      [['bug', 'gpu'], []],
      [
        ['needs:gpu', 'bug', 'needs:os=linux', 'needs:gpu'],
        ['gpu', 'os=linux'],
      ],
      [['needs:', 'needs: ', 'Needs:gpu'], []],
      [['needs: gpu'], ['gpu']],
    ];
    for (const [labels, needed] of cases) assert.deepEqual(neededLabels(labels), needed);
    assert.equal(suits([], []), true);
    assert.equal(suits(['gpu', 'os=linux'], ['gpu']), true);
    assert.equal(suits(['gpu'], ['gpu', 'os=linux']), false);
  });

  test('the refusal names the labels, the machines and the remedy', () => {
    const machine = (name: string, more: Partial<MachineFacts> = {}): MachineFacts => ({
      name,
      labels: [],
      state: 'working',
      busy: 0,
      room: 2,
      note: null,
      ...more,
    });
    const atlas = machine('atlas', { labels: ['gpu'] });
    const mac = machine('mac', { labels: ['os=mac', 'big'] });
    const hera = machine('hera');
    const dead = machine('zeus', { labels: ['gpu'], state: 'dead' });
    const draining = machine('leto', { labels: ['gpu'], state: 'draining' });
    const full = machine('ares', { labels: ['gpu'], busy: 2, note: 'its memory is short.' });
    const many = Array.from({ length: 7 }, (_, at) => machine(`m${at}`));
    const cases: readonly [readonly string[], readonly MachineFacts[], string | null][] = [
      [['needs:gpu'], [], null],
      [[], [hera], null],
      [['needs:gpu'], [hera, atlas], null],
      [['needs:gpu'], [full, atlas], null],
      [
        ['needs:gpu'],
        [dead, machine('nyx', { state: 'left' })],
        'No machine of the fleet is running (zeus: dead; nyx: left). Start "drover worker" on one.',
      ],
      [
        ['needs:gpu'],
        [hera, dead],
        'It needs a machine with "gpu", and none has "gpu" (hera has no labels); start "drover worker --label gpu" on one that can do it, or take "needs:gpu" off the task.',
      ],
      [
        ['needs:gpu', 'needs:os=linux'],
        [atlas, mac],
        'It needs a machine with "gpu" and "os=linux", and none has "os=linux" (atlas has gpu; mac has os=mac, big); start "drover worker --label os=linux" on one that can do it, or take "needs:gpu" and "needs:os=linux" off the task.',
      ],
      [
        ['needs:gpu', 'needs:os=mac'],
        [atlas, mac],
        'It needs a machine with "gpu" and "os=mac", and none has all of them (atlas has gpu; mac has os=mac, big); start "drover worker --label gpu" on one that can do it, or take "needs:gpu" and "needs:os=mac" off the task.',
      ],
      [
        ['needs:gpu'],
        [draining, hera, dead],
        'All machines with "gpu" are draining and start nothing new (leto); start "drover worker" again on one.',
      ],
      [
        ['needs:gpu'],
        [full, draining, hera],
        'All machines with "gpu" are full (ares: 2 running, room for 2, its memory is short); it starts when one has room.',
      ],
      [
        [],
        [machine('hera', { room: 0 })],
        'All machines take no agents ([fleet] agents = 0: hera); start "drover worker" on one that does.',
      ],
    ];
    for (const [labels, machines, said] of cases) {
      assert.equal(whyNoMachine(labels, machines), said);
    }
    assert.equal(whyItsMachine(atlas), null);
    assert.equal(
      whyItsMachine(full),
      'It resumes where it started, on ares: 2 running, room for 2, its memory is short, as soon as a place is free.',
    );
    assert.match(whyNoMachine(['needs:x'], many) ?? '', /m4 has no labels; 2 more\); start/);
  });
});
