// Who may take an issue, when several projects look at the same label.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  claimAfter,
  claimLabel,
  decideIssueClaim,
  intakeLabel,
  waitWords,
} from '../../../../server/core/forge/intake.ts';
import { testSeed } from '../../../tier.ts';

const own = { label: claimLabel('aaaaaaaa-1'), login: 'lead' };
const other = claimLabel('bbbbbbbb-2');

suite('claims on issues', () => {
  const cases = [
    { name: 'a free one', labels: ['drover'], assignees: [], is: 'free' },
    { name: 'one of the own user', labels: ['drover'], assignees: ['lead'], is: 'free' },
    { name: 'one that a person works on', labels: ['drover'], assignees: ['eve'], is: 'others' },
    { name: 'the own', labels: [own.label], assignees: ['eve'], is: 'ours' },
    { name: 'one of another project', labels: [other], assignees: [], is: 'others' },
    { name: 'one that both ask for', labels: [other, own.label], assignees: [], is: 'withdraw' },
  ] as const;
  for (const { name, is, ...issue } of cases) {
    test(`${name} is ${is}`, () => {
      assert.equal(decideIssueClaim(issue, own, false), is);
    });
  }

  test('work that is in the plan stays, whoever requests it later', () => {
    assert.equal(
      decideIssueClaim({ labels: [other, own.label], assignees: [] }, own, true),
      'ours',
    );
  });

  test('in any order of steps, at most one project has an issue, and one project gets it in the end', () => {
    const order = fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(order, (steps) => {
        const world = new Claims(['cccccccc', 'aaaaaaaa', 'bbbbbbbb']);
        for (const each of steps) world.step(each);
        assert.ok(world.owners.size <= 1, 'two have it');
        // Each project finishes its look, and then they look in turn.
        for (let round = 0; round < 12; round += 1) for (const each of [0, 1, 2]) world.step(each);
        assert.equal(world.owners.size, 1);
      }),
      { seed: testSeed },
    );
  });

  test('the setting names a label', () => {
    assert.equal(intakeLabel('label:for drover'), 'for drover');
    for (const bad of ['drover', 'label:', 'label: ', 'milestone:1']) {
      assert.equal(intakeLabel(bad), null, bad);
    }
  });

  test('each issue is named as open', () => {
    assert.equal(waitWords(['o/r#1', 'o/s#2']), 'waits for o/r#1 (open), o/s#2 (open)');
  });
});

/** One issue, and projects that each do the next step of their look. */
class Claims {
  readonly owners = new Set<string>();
  readonly #labels: readonly string[];
  readonly #next: ('look' | 'read')[];
  #present: string[] = [];

  constructor(ids: readonly string[]) {
    this.#labels = ids.map(claimLabel);
    this.#next = ids.map(() => 'look');
  }

  step(each: number): void {
    const label = this.#labels[each] ?? '';
    if (this.owners.has(label)) return;
    if (this.#next[each] === 'look') {
      const issue = { labels: this.#present, assignees: [] };
      const claim = decideIssueClaim(issue, { label, login: '' }, false);
      if (claim === 'withdraw') this.#drop(label);
      if (claim !== 'free' && claim !== 'ours') return;
      this.#present = [...new Set([...this.#present, label])];
      this.#next[each] = 'read';
      return;
    }
    this.#next[each] = 'look';
    const claim = claimAfter(this.#present, label);
    if (claim === 'withdraw') this.#drop(label);
    if (claim === 'ours') this.owners.add(label);
  }

  #drop(label: string): void {
    this.#present = this.#present.filter((one) => one !== label);
  }
}
