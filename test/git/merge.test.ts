// Merges without a checkout.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { kindOf, makeFixture, valueOf, type Fixture } from './fixture.ts';

suite('git: merge', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let base: string;
  setup(async () => {
    fixture = makeFixture();
    repository = await fixture.open();
    base = fixture.git('rev-parse', 'main');
  });
  teardown(() => fixture.remove());

  /** A commit on top of `base`, with the checkout back on main afterwards. */
  function commitOn(name: string, files: Readonly<Record<string, string>>): string {
    fixture.git('switch', '-q', '-c', name, base);
    for (const [path, content] of Object.entries(files))
      fixture.write(join(fixture.root, path), content);
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', name);
    const sha = fixture.git('rev-parse', 'HEAD');
    fixture.git('switch', '-q', 'main');
    return sha;
  }
  const merge = (tip: string, commit: string) =>
    repository.merge({ tip, commit, subject: 'drover: t Title', trailers: ['Drover-Task: t'] });

  test('the parents are the tip and the commit', async () => {
    const ours = commitOn('ours', { 'src/a.txt': 'ours\n' });
    const theirs = commitOn('theirs', { 'src/b.txt': 'theirs\n' });
    const merged = valueOf(await merge(ours, theirs));
    assert.equal(merged.kind, 'merged');
    if (merged.kind !== 'merged') return;
    assert.equal(
      fixture.git('rev-list', '--parents', '-1', merged.commit),
      `${merged.commit} ${ours} ${theirs}`,
    );
    assert.equal(fixture.git('show', `${merged.commit}:src/a.txt`), 'ours');
    assert.equal(fixture.git('show', `${merged.commit}:src/b.txt`), 'theirs');
    assert.equal(valueOf(await repository.treeOf(merged.commit)), merged.tree);
    assert.equal(await repository.isAncestor(theirs, merged.commit), true);
  });

  test('a merge without new work still makes a commit', async () => {
    const ours = commitOn('ours', { 'src/a.txt': 'same\n' });
    const theirs = commitOn('theirs', { 'src/a.txt': 'same\n' });
    const merged = valueOf(await merge(ours, theirs));
    assert.equal(
      merged.kind === 'merged' && merged.tree,
      fixture.git('rev-parse', `${ours}^{tree}`),
    );
  });

  test("work that started at the tip keeps its own tree, and older work gets the tip's tree", async () => {
    const first = commitOn('first', { 'src/a.txt': 'first\n' });
    fixture.git('branch', '-f', 'on-top', first);
    fixture.git('switch', '-q', 'on-top');
    fixture.write(join(fixture.root, 'src', 'b.txt'), 'second\n');
    fixture.git('commit', '-qam', 'second');
    const second = fixture.git('rev-parse', 'HEAD');
    for (const commit of [second, base]) {
      const tip = commit === second ? base : first;
      const merged = valueOf(await merge(tip, commit));
      const expected = fixture.git('rev-parse', `${commit === second ? second : first}^{tree}`);
      assert.equal(merged.kind === 'merged' && merged.tree, expected);
    }
  });

  test('a conflict names its files and changes nothing', async () => {
    const ours = commitOn('ours', { 'src/ü a.txt': 'ours\n', 'README.md': 'ours\n', fine: 'x\n' });
    const theirs = commitOn('theirs', { 'src/ü a.txt': 'theirs\n', 'README.md': 'theirs\n' });
    assert.deepEqual(valueOf(await merge(ours, theirs)), {
      kind: 'conflict',
      files: ['README.md', 'src/ü a.txt'],
    });
    assert.equal(fixture.git('status', '--porcelain'), '');
  });

  test('an unknown commit is not a conflict', async () => {
    assert.equal(kindOf(await merge(base, '1'.repeat(40))), 'unknown_ref');
    assert.equal(kindOf(await merge(base, 'main')), 'unknown_ref');
  });

  test('histories without a common ancestor are refused', async () => {
    const tree = fixture.git('rev-parse', 'main^{tree}');
    const alone = fixture.git('commit-tree', tree, '-m', 'alone');
    const refused = await merge(base, alone);
    assert.match(refused.ok ? '' : refused.error.message, /unrelated histories/);
  });

  test('if the tip is preferred, nothing conflicts, not even an unrelated history', async () => {
    commitOn('kept', { 'README.md': 'ours\n', 'src/a.txt': 'ours a\n' });
    const theirs = commitOn('other', { 'README.md': 'theirs\n', 'more.txt': 'more\n' });
    fixture.git('switch', '-q', 'kept');
    fixture.git('rm', '-q', 'src/b.txt');
    fixture.git('commit', '-qm', 'one less');
    fixture.git('switch', '-q', 'main');
    const tip = fixture.git('rev-parse', 'kept');
    const tree = fixture.git('rev-parse', `${theirs}^{tree}`);
    const alone = fixture.git('commit-tree', tree, '-m', 'alone');
    const prefer = { subject: 'both', trailers: [], preferTip: true };
    for (const [commit, hasRemoved] of [
      [theirs, false],
      [alone, true],
    ] as const) {
      const merged = valueOf(await repository.merge({ tip, commit, ...prefer }));
      assert.equal(merged.kind, 'merged');
      if (merged.kind !== 'merged') return;
      assert.equal(fixture.git('show', `${merged.commit}:README.md`), 'ours');
      assert.equal(fixture.git('show', `${merged.commit}:src/a.txt`), 'ours a');
      assert.equal(fixture.git('show', `${merged.commit}:more.txt`), 'more');
      const names = fixture.git('ls-tree', '-r', '--name-only', merged.commit).split('\n');
      assert.equal(names.includes('src/b.txt'), hasRemoved);
    }
  });

  test('with a separate base, only the difference from it is merged, onto one parent', async () => {
    const secret = commitOn('secret', { 'secret.txt': 'token\n', 'src/a.txt': 'secret a\n' });
    fixture.git('switch', '-q', '-c', 'work', secret);
    fixture.write(join(fixture.root, 'src', 'b.txt'), 'work\n');
    fixture.git('commit', '-qam', 'work');
    const work = fixture.git('rev-parse', 'HEAD');
    fixture.git('switch', '-q', 'main');
    const tip = commitOn('amended', { 'plain.txt': 'plain\n' });
    const request = { tip, commit: work, base: secret, subject: 's', trailers: ['Drover-Task: t'] };
    const merged = valueOf(await repository.merge(request));
    assert.equal(merged.kind, 'merged');
    if (merged.kind !== 'merged') return;
    assert.equal(fixture.git('diff', '--name-status', tip, merged.commit), 'M\tsrc/b.txt');
    assert.equal(
      fixture.git('rev-list', '--parents', '-1', merged.commit),
      `${merged.commit} ${tip}`,
    );
    const [newest, ...older] = valueOf(await repository.lineCommits(base, merged.commit, 10));
    assert.deepEqual(newest, {
      sha: merged.commit,
      parents: [tip],
      tree: merged.tree,
      subject: 's',
      trailers: ['Drover-Task: t'],
    });
    assert.deepEqual(
      older.map(({ sha }) => sha),
      [tip],
    );
    assert.equal(await repository.mergeBase(work, tip), base);
    const clash = commitOn('clash', { 'src/b.txt': 'clash\n' });
    const conflict = valueOf(await repository.merge({ ...request, tip: clash }));
    assert.deepEqual(conflict, { kind: 'conflict', files: ['src/b.txt'] });
  });

  const issue = (id: string, status = 'open'): string => `${JSON.stringify({ id, status })}\n`;
  const beads = '.beads/issues.jsonl';

  for (const [what, attributes, driver] of [
    ['without a driver', null, {}],
    [
      'with a driver whose program is not there',
      `${beads} merge=beads\n`,
      { driver: 'no-bd merge %A %O %A %B' },
    ],
    ['with a driver that has no command', `${beads} merge=beads\n`, { name: 'bd' }],
    ['with a driver that loses some', `${beads} merge=beads\n`, { driver: 'cat %O > %A' }],
  ] as const) {
    test(`Beads issues are merged one by one, ${what}`, async () => {
      for (const [key, value] of Object.entries(driver)) {
        fixture.git('config', `merge.beads.${key}`, value);
      }
      repository = await fixture.open();
      // Counted as in a checkout, although the checkout here is at another commit.
      const rules = join(fixture.root, '.git', 'info', 'attributes');
      if (attributes !== null) fixture.write(rules, attributes);
      base = commitOn('begun', { [beads]: issue('a') + issue('b') });
      const ours = commitOn('ours', { [beads]: issue('a', 'closed') + issue('b'), 'x.txt': 'x\n' });
      const theirs = commitOn('theirs', {
        [beads]: issue('a') + issue('b', 'closed') + issue('c'),
      });
      const merged = valueOf(await merge(ours, theirs));
      assert.equal(merged.kind, 'merged');
      if (merged.kind !== 'merged') return;
      assert.equal(
        `${fixture.git('show', `${merged.commit}:${beads}`)}\n`,
        issue('a', 'closed') + issue('b', 'closed') + issue('c'),
      );
      assert.equal(fixture.git('show', `${merged.commit}:x.txt`), 'x');
      assert.equal(valueOf(await repository.treeOf(merged.commit)), merged.tree);
    });
  }

  test('issues stay in conflict beside another conflict, or if they cannot be read', async () => {
    base = commitOn('begun', { [beads]: issue('a') });
    const ours = commitOn('ours', { [beads]: issue('a') + issue('b'), 'src/a.txt': 'ours\n' });
    const theirs = commitOn('theirs', {
      [beads]: issue('a') + issue('c'),
      'src/a.txt': 'theirs\n',
    });
    const broken = commitOn('broken', { [beads]: `${issue('a')}<<<\n` });
    for (const [commit, files] of [
      [theirs, ['src/a.txt']],
      [broken, [beads]],
    ] as const) {
      assert.deepEqual(valueOf(await merge(ours, commit)), { kind: 'conflict', files });
    }
  });

  test('a driver without a command does not prevent other files from being merged as text', async () => {
    fixture.git('config', 'merge.odd.name', 'odd');
    repository = await fixture.open();
    base = commitOn('begun', { '.gitattributes': '*.txt merge=odd\n', 'l.txt': '1\n2\n3\n4\n5\n' });
    const ours = commitOn('ours', { 'l.txt': 'one\n2\n3\n4\n5\n' });
    const theirs = commitOn('theirs', { 'l.txt': '1\n2\n3\n4\nfive\n' });
    const merged = valueOf(await merge(ours, theirs));
    assert.equal(
      merged.kind === 'merged' && fixture.git('show', `${merged.commit}:l.txt`),
      'one\n2\n3\n4\nfive',
    );
  });
});
