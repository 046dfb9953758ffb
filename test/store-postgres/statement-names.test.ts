// Statements get a name when they come again, and never more than there are names.

import assert from 'node:assert/strict';
import { StatementNames } from '../../server/store/postgres/statement-names.ts';

suite('postgres: names of statements', () => {
  test('the second time, and the same from then on', () => {
    const names = new StatementNames();
    assert.equal(names.nameOf('select $1'), null);
    assert.equal(names.nameOf('select $1'), 'drover_1');
    assert.equal(names.nameOf('select $1'), 'drover_1');
    assert.equal(names.nameOf('select $2'), null);
    assert.equal(names.nameOf('select $2'), 'drover_2');
  });

  test('none for what is very long', () => {
    const names = new StatementNames();
    const long = 'x'.repeat(5_000);
    assert.deepEqual([names.nameOf(long), names.nameOf(long)], [null, null]);
  });

  test('a bounded number, which those that come once do not use up', () => {
    const names = new StatementNames();
    for (let n = 0; n < 10_000; n += 1) assert.equal(names.nameOf(`once ${n}`), null);
    const given = new Set<string | null>();
    for (let n = 0; n < 1_000; n += 1) {
      names.nameOf(`often ${n}`);
      given.add(names.nameOf(`often ${n}`));
    }
    given.delete(null);
    assert.equal(given.size, 256);
  });
});
