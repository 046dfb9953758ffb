// Three versions of a Beads file are merged issue by issue.

import assert from 'node:assert/strict';
import { isBeadsFile, mergeBeadsLines } from '../../../server/core/exchange/beads-merge.ts';

suite('beads merge', () => {
  const issue = (id: string, more: object = {}): string =>
    JSON.stringify({ id, title: id, status: 'open', ...more });
  const file = (...lines: string[]): string => lines.map((line) => `${line}\n`).join('');
  const merge = (base: string, ours: string, theirs: string): string | null =>
    mergeBeadsLines({ base, ours, theirs }, (text) => Date.parse(text));
  const one = (base: object, ours: object, theirs: object): Record<string, unknown> => {
    const text = merge(file(issue('a', base)), file(issue('a', ours)), file(issue('a', theirs)));
    return JSON.parse(text ?? assert.fail('no merge')) as Record<string, unknown>;
  };
  const closed = { status: 'closed', closed_at: '2026-01-02T00:00:00Z', close_reason: 'done' };

  test('changes to neighboring issues and issues that either side added are merged', () => {
    const base = file(issue('a'), issue('b'));
    const ours = file(issue('a', closed), issue('aa'), issue('b'));
    const theirs = file(issue('a'), issue('ab'), issue('b', { priority: 1 }));
    const both = file(issue('a', closed), issue('aa'), issue('ab'), issue('b', { priority: 1 }));
    assert.equal(merge(base, ours, theirs), both);
    assert.equal(merge(base, theirs, ours), both);
    // A second merge changes nothing.
    assert.equal(merge(base, both, theirs), both);
  });

  test('a file without an order keeps its order, and new issues come last', () => {
    const base = file(issue('b'), issue('a'));
    assert.equal(
      merge(
        base,
        file(issue('b'), issue('a'), issue('x')),
        file(issue('b'), issue('a'), issue('c')),
      ),
      file(issue('b'), issue('a'), issue('x'), issue('c')),
    );
  });

  test('issues that one side deleted stay deleted, and a tombstone stays one', () => {
    const base = file(issue('a'), issue('b'));
    assert.equal(merge(base, file(issue('b')), base), file(issue('b')));
    assert.equal(
      merge(base, file(issue('b')), file(issue('a', closed), issue('b'))),
      file(issue('b')),
    );
    const tombstone = { status: 'tombstone', deleted_at: '2026-01-01T00:00:00Z' };
    const { status, closed_at: closedAt } = one({}, closed, tombstone);
    assert.deepEqual([status, closedAt], ['tombstone', undefined]);
  });

  test('if both sides changed an issue, the state is taken as a whole, closed before open', () => {
    const claimed = { status: 'in_progress', updated_at: '2026-01-03T00:00:00Z' };
    for (const [ours, theirs] of [
      [closed, claimed],
      [claimed, closed],
    ] as const) {
      const { status, closed_at: closedAt, close_reason: reason } = one({}, ours, theirs);
      assert.deepEqual([status, closedAt, reason], Object.values(closed));
    }
    const reopened = one(closed, { status: 'open' }, { ...closed, priority: 0 });
    assert.deepEqual(reopened, { id: 'a', title: 'a', status: 'open', priority: 0 });
  });

  test('if both sides changed a field, the later value counts', () => {
    const merged = one(
      { title: 'a' },
      { title: 'ours', updated_at: '2026-01-01T12:00:00+02:00', notes: 'n' },
      { title: 'theirs', updated_at: '2026-01-01T11:00:00Z', metadata: { k: 1 } },
    );
    assert.deepEqual(
      [merged['title'], merged['updated_at'], merged['notes'], merged['metadata']],
      ['theirs', '2026-01-01T11:00:00Z', 'n', { k: 1 }],
    );
  });

  test('labels, dependencies and comments are merged one by one', () => {
    const edge = (to: string): object => ({ issue_id: 'a', depends_on_id: to, type: 'blocks' });
    const merged = one(
      { labels: ['x', 'y'], dependencies: [edge('b')], comments: [{ id: 1, text: 'one' }] },
      {
        labels: ['y', 'z'],
        dependencies: [edge('b'), edge('c')],
        comments: [{ id: 1, text: 'one' }, { id: 2 }],
      },
      { labels: ['x', 'y', 'w'], dependencies: [], comments: [{ id: 1, text: 'ONE' }] },
    );
    assert.deepEqual(merged['labels'], ['y', 'z', 'w']);
    assert.deepEqual(merged['dependencies'], [edge('c')]);
    assert.deepEqual(merged['comments'], [{ id: 1, text: 'ONE' }, { id: 2 }]);
  });

  test('if two new issues have the same id, theirs gets another one, in its dependencies too', () => {
    const base = file(issue('bd-1'));
    const found = (title: string, second: number): string =>
      JSON.stringify({
        id: 'bd-2',
        title,
        status: 'open',
        created_at: `2026-01-01T00:00:0${second}Z`,
      });
    const edge = { issue_id: 'bd-3', depends_on_id: 'bd-2', type: 'blocks' };
    const ours = base + file(found('ours', 1));
    const theirs = base + file(found('theirs', 2), issue('bd-3', { dependencies: [edge] }));
    const merged = merge(base, ours, theirs) ?? '';
    const issues = merged
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const idOf = (title: string): unknown => issues.find((one) => one['title'] === title)?.['id'];
    assert.deepEqual([issues.length, idOf('ours')], [4, 'bd-2']);
    assert.match(String(idOf('theirs')), /^bd-[0-9a-z]{7}$/u);
    assert.deepEqual(issues.find((one) => one['id'] === 'bd-3')?.['dependencies'], [
      { ...edge, depends_on_id: idOf('theirs') },
    ]);
    assert.equal(merge(base, merged, theirs), merged);
  });

  test('an issue that a landing renamed is not duplicated for the side with its old id', () => {
    const found = (id: string, title: string): string =>
      JSON.stringify({ id, title, status: 'open', created_at: `2026-01-01T00:00:00.${title}Z` });
    const edge = { issue_id: 'bd-4', depends_on_id: 'bd-2', type: 'blocks' };
    const after = (dependsOn: string): string =>
      issue('bd-4', { dependencies: [{ ...edge, depends_on_id: dependsOn }] });
    const base = file(issue('bd-1'));
    const here = base + file(found('bd-2', '17'), after('bd-2'));
    const landed = base + file(found('bd-2', '16'), found('bd-x7', '17'));
    const merged = file(issue('bd-1'), found('bd-2', '16'), after('bd-x7'), found('bd-x7', '17'));
    for (const [ours, theirs] of [
      [here, landed],
      [landed, here],
    ] as const) {
      assert.equal(merge(base, ours, theirs), merged);
    }
    // Landed one after the other: the first one's id is taken here by the second one.
    const first = base + file(found('bd-2', '16'));
    const between = merge(base, here, first) ?? '';
    const titles = (merge(first, between, first + file(found('bd-x7', '17'))) ?? '')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { title: string }).title);
    assert.deepEqual(titles.sort(), ['16', '17', 'bd-1', 'bd-4']);
  });

  test('memories and other lines without an id are merged as lines', () => {
    const memory = (value: string): string => JSON.stringify({ _type: 'memory', key: 'k', value });
    assert.equal(merge(file(memory('1')), file(memory('1')), file(memory('2'))), file(memory('2')));
    assert.equal(merge('', file('{"n":1}'), file('{"n":2}')), file('{"n":1}', '{"n":2}'));
  });

  test('an unreadable file is not merged', () => {
    const good = file(issue('a'));
    for (const bad of ['{"id":', '[1]', file(issue('a'), issue('a', closed))]) {
      assert.equal(merge(good, bad, good), null, bad);
      assert.equal(merge(good, good, bad), null, bad);
    }
  });

  test('files of Beads are recognized', () => {
    const yes = ['.beads/issues.jsonl', 'sub/.beads/interactions.jsonl'];
    const no = ['.beads/config.yaml', 'x.beads/issues.jsonl', '.beads/a/b.jsonl', 'issues.jsonl'];
    assert.deepEqual([...yes, ...no].filter(isBeadsFile), yes);
  });
});
