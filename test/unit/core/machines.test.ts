import assert from 'node:assert/strict';
import { neededLabels, noMachineSuits, suits } from '../../../server/core/machines.ts';

suite('which machine can do a task', () => {
  test('what a task needs stands in its labels', () => {
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

  test('why none takes it names the labels, the machines and what to do', () => {
    const atlas = { name: 'atlas', labels: ['gpu'] };
    const hera = { name: 'hera', labels: [] };
    const mac = { name: 'mac', labels: ['os=mac'] };
    const many = Array.from({ length: 7 }, (_, at) => ({ name: `m${at}`, labels: [] }));
    const cases: readonly [
      readonly string[],
      readonly { name: string; labels: string[] }[],
      RegExp | null,
    ][] = [
      [[], [], null],
      [['needs:gpu'], [hera, atlas], null],
      [
        ['needs:gpu'],
        [],
        /^It needs a machine with `gpu`, and none has `gpu`: no machine is at work; start `drover worker --label/,
      ],
      [
        ['needs:gpu'],
        [hera],
        /: there is hera \(no labels\); start .*take the label `needs:…` off the task\.$/,
      ],
      [
        ['needs:gpu', 'needs:os=linux'],
        [atlas, mac],
        /with `gpu` and `os=linux`, and none has `os=linux`: there are atlas \(gpu\), mac \(os=mac\);/,
      ],
      [
        ['needs:gpu', 'needs:os=mac'],
        [atlas, mac],
        /needs one machine with `gpu` and `os=mac`, and none has all of them/,
      ],
      [['needs:gpu'], many, /m4 \(no labels\) and 2 more;/],
    ];
    for (const [labels, alive, wanted] of cases) {
      const said = noMachineSuits(labels, alive);
      if (wanted === null) assert.equal(said, null);
      else assert.match(said ?? '', wanted);
    }
  });
});
