// A repository shared by several machines: each sees the others' changes, and a person's own
// branches are not touched.

import assert from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { kindOf, leftoversOf, type Task, snapshotRef, valueOf } from './fixture.ts';
import {
  type Clone,
  commitOn,
  type Fleet,
  type Machine,
  makeFleet,
  openMachine,
} from './remote-fixture.ts';
import { sized } from '../tier.ts';

const land = 'refs/drover/land/main';
const main = 'refs/heads/main';

for (const kind of sized<readonly ('file' | 'server')[]>(['server'], ['file', 'server'])) {
  suite(`git: a shared remote (${kind})`, () => {
    let fleet: Fleet;
    let one: Machine;
    let two: Machine;
    let base: string;
    setup(async () => {
      fleet = await makeFleet(kind);
      [one, two] = await Promise.all([fleet.machine('one'), fleet.machine('two')]);
      base = fleet.remote('rev-parse', 'main');
    });
    teardown(async () => {
      await Promise.all([one.shared.settled(), two.shared.settled()]);
      await fleet.remove();
    });

    async function begin(machine: Machine, id: string, sha = base): Promise<Task> {
      const task = { path: join(machine.slots, id), branch: `drover/${id}/1`, base: sha };
      const slot = { path: task.path, branch: task.branch, sha };
      valueOf(
        await machine.shared.prepareSlot({
          ...slot,
          keepBranch: false,
          dropIgnored: false,
          sparse: null,
          use: 'task',
        }),
      );
      return task;
    }

    async function work(machine: Machine, id: string, file: string): Promise<string> {
      const task = await begin(machine, id);
      fleet.fixture.write(join(task.path, file), `${id}\n`);
      return valueOf(await machine.shared.commitLeftovers(leftoversOf(task))).commit;
    }

    test('a landing travels from one machine to the other, and the branch follows', async () => {
      const commit = await work(one, 't-1', 'new.txt');
      assert.equal(fleet.remoteRef('refs/heads/drover/t-1/1'), commit);
      valueOf(await two.shared.ownLine('main'));
      assert.equal(await two.shared.readRef(land), null);
      assert.equal(await two.shared.readRef(main), base);
      valueOf(await two.shared.updateRef(land, base, null, 'drover: take in main'));
      assert.equal(await two.shared.isAncestor(base, commit), true);
      const request = { tip: base, commit, subject: 'drover: t-1', trailers: [] };
      const merged = valueOf(await two.shared.merge(request));
      assert.ok(merged.kind === 'merged');
      valueOf(await two.shared.updateRef(land, merged.commit, base, 'drover: land', 'owner'));
      const followed = await two.shared.follow(main, merged.commit, 'fast-forward');
      assert.deepEqual(valueOf(followed), { kind: 'followed', sha: merged.commit });
      assert.equal(fleet.remoteRef(main), merged.commit);
      // The clone that landed it follows; the other one is notified, and its own branch is left
      // alone.
      assert.equal(two.git('rev-parse', 'main'), merged.commit);
      assert.equal(two.git('status', '--porcelain'), '');
      assert.equal(await one.shared.readRef(land), merged.commit);
      assert.equal(one.git('rev-parse', land), merged.commit);
      assert.equal(await one.shared.readRef(main), merged.commit);
      assert.equal(one.git('rev-parse', 'main'), base);
      assert.deepEqual(valueOf(await one.shared.changedPaths(base, merged.commit)), ['new.txt']);
      assert.deepEqual([...one.reports, ...two.reports], []);
    });

    test('one of two compare-and-swaps wins, in every round', async () => {
      let tip: string | null = null;
      for (let round = 0; round < 8; round += 1) {
        const nexts: string[] = [one, two].map((machine) =>
          commitOn(machine, base, `${round} ${machine.root}`),
        );
        const outcomes = await Promise.all(
          [one, two].map((machine, index) =>
            machine.shared.updateRef(land, nexts[index] ?? '', tip, 'race'),
          ),
        );
        assert.deepEqual(outcomes.map(kindOf).toSorted(), ['ok', 'stale']);
        tip = nexts[outcomes.findIndex((outcome) => outcome.ok)] ?? null;
        assert.equal(fleet.remoteRef(land), tip);
      }
    });

    test('a ref that already has the new value succeeds, and several refs move all together or not at all', async () => {
      const next = commitOn(one, base, 'next');
      valueOf(await one.shared.updateRef(land, next, null, 'x'));
      valueOf(await one.shared.updateRef(land, next, null, 'x'));
      valueOf(await two.shared.updateRef(land, next, base, 'x'));
      const epic = 'drover/epic/e1';
      const refs = [`refs/drover/land/${epic}`, `refs/heads/${epic}`];
      const changes = refs.map((ref) => ({ ref, next: base, old: null }));
      valueOf(await one.shared.updateRefs(changes, 'epic'));
      assert.deepEqual(refs.map(fleet.remoteRef), [base, base]);
      const moves = refs.map((ref, index) => ({ ref, next, old: index === 0 ? base : next }));
      assert.equal(kindOf(await two.shared.updateRefs(moves, 'epic')), 'stale');
      assert.deepEqual(refs.map(fleet.remoteRef), [base, base]);
      assert.deepEqual(await Promise.all(refs.map((ref) => two.shared.readRef(ref))), [base, base]);
      const gone = refs.map((ref) => ({ ref, next: null, old: base }));
      valueOf(await two.shared.updateRefs(gone, 'epic'));
      valueOf(await one.shared.updateRefs(gone, 'epic'));
      assert.deepEqual(refs.map(fleet.remoteRef), [null, null]);
      assert.equal(await one.shared.readRef(refs[1] ?? ''), null);
    });

    test('work of an attempt that another machine has started again is kept under a rescue ref', async () => {
      const first = await work(one, 't-1', 'first.txt');
      assert.equal(await two.shared.readRef('refs/heads/drover/t-1/1'), first);
      const second = await work(two, 't-1', 'second.txt');
      assert.equal(fleet.remoteRef('refs/heads/drover/t-1/1'), second);
      const kept = `refs/drover/rescue/t-1/1/${first.slice(0, 12)}`;
      assert.equal(fleet.remoteRef(kept), first);
      // More work on the same branch needs no rescue.
      const task = { path: join(two.slots, 't-1'), branch: 'drover/t-1/1', base };
      fleet.fixture.write(join(task.path, 'third.txt'), 'x\n');
      const third = valueOf(await two.shared.commitLeftovers(leftoversOf(task))).commit;
      assert.equal(fleet.remoteRef('refs/heads/drover/t-1/1'), third);
      const rescued = fleet.remote('for-each-ref', '--format=%(refname)', 'refs/drover/rescue');
      assert.equal(rescued, kept);
    });

    test("attempts' branches are deleted in both places, and only at their known values", async () => {
      const ref = 'refs/heads/drover/t-1/1';
      const commit = await work(one, 't-1', 'a.txt');
      one.git('-C', join(one.slots, 't-1'), 'switch', '-q', '--detach');
      const wrong = [{ ref, next: null, old: base }];
      assert.equal(kindOf(await one.shared.updateRefs(wrong, 'drover: landed')), 'stale');
      assert.equal(one.git('rev-parse', ref), commit);
      const known = [{ ref, next: null, old: commit }];
      valueOf(await two.shared.updateRefs(known, 'drover: landed'));
      assert.equal(fleet.remoteRef(ref), null);
      assert.equal(await two.shared.readRef(ref), null);
      // It still exists there, and the next sweep removes it.
      assert.equal(await one.shared.readRef(ref), commit);
      valueOf(await one.shared.updateRefs(known, 'drover: landed'));
      assert.equal(await one.shared.readRef(ref), null);
    });

    test('many branches are deleted at once', async () => {
      const names = Array.from({ length: 120 }, (_, index) => `refs/heads/drover/s-${index}/1`);
      one.git('push', '-q', 'origin', ...names.map((ref) => `${base}:${ref}`));
      const machine = await fleet.machine('three', { freshMs: 60_000 });
      const values = [];
      for (const ref of names) values.push(await machine.shared.readRef(ref));
      assert.deepEqual(new Set(values), new Set([base]));
      const changes = names.map((ref) => ({ ref, next: null, old: base }));
      valueOf(await machine.shared.updateRefs(changes, 'drover: landed'));
      assert.equal(fleet.remote('for-each-ref', 'refs/heads/drover'), '');
    });

    suite('following', () => {
      let person: Clone;
      setup(() => {
        person = fleet.clone('person');
      });

      test("a person's commits on the remote wait to be merged", async () => {
        const landed = commitOn(one, base, 'landed');
        valueOf(await one.shared.updateRef(land, landed, null, 'x'));
        const theirs = person.commit('theirs.txt', 'x\n');
        person.git('push', '-q', 'origin', 'main');
        const waiting = valueOf(await one.shared.follow(main, landed, 'fast-forward'));
        assert.ok(waiting.kind === 'pending');
        assert.equal(waiting.commits, 1);
        assert.match(waiting.reason, /^main on origin has commits that are not part of/);
        const request = { tip: landed, commit: theirs, subject: 'both', trailers: [] };
        const both = valueOf(await one.shared.merge(request));
        assert.ok(both.kind === 'merged');
        valueOf(await one.shared.updateRef(land, both.commit, landed, 'take in'));
        const followed = valueOf(await two.shared.follow(main, both.commit, 'fast-forward'));
        assert.deepEqual(followed, { kind: 'followed', sha: both.commit });
        person.git('pull', '-q', '--ff-only');
        assert.equal(person.git('rev-parse', 'main'), both.commit);
        assert.equal(two.git('rev-parse', 'main'), both.commit);
      });

      test('a branch that is already ahead stays unchanged', async () => {
        const theirs = person.commit('theirs.txt', 'x\n');
        person.git('push', '-q', 'origin', 'main');
        const followed = valueOf(await one.shared.follow(main, base, 'fast-forward'));
        assert.deepEqual(followed, { kind: 'followed', sha: theirs });
      });

      test("changes in a machine's checkout stay, and delay nothing", async () => {
        fleet.fixture.write(join(one.root, 'README.md'), 'mine\n');
        const task = await begin(two, 't-1');
        fleet.fixture.write(join(task.path, 'README.md'), 'theirs\n');
        const { commit } = valueOf(await two.shared.commitLeftovers(leftoversOf(task)));
        const followed = valueOf(await one.shared.follow(main, commit, 'fast-forward'));
        assert.deepEqual(followed, { kind: 'followed', sha: commit });
        assert.equal(fleet.remoteRef(main), commit);
        assert.equal(one.git('rev-parse', 'main'), base);
        assert.equal(one.git('diff', '--stat', '--name-only'), 'README.md');
      });

      test('a server that protects the branch is reported as the reason', async () => {
        fleet.hook(
          'update',
          'test "$1" != refs/heads/main || { echo "main is protected" >&2; exit 1; }',
        );
        const landed = commitOn(one, base, 'landed');
        valueOf(await one.shared.updateRef(land, landed, null, 'x'));
        const waiting = valueOf(await one.shared.follow(main, landed, 'fast-forward'));
        assert.ok(waiting.kind === 'pending');
        assert.match(
          waiting.reason,
          /refused refs\/heads\/main \(hook declined\).*main is protected/,
        );
        const results = 'refs/heads/drover/results/main';
        valueOf(await one.shared.updateRefs([{ ref: results, next: landed, old: null }], 'x'));
        assert.equal(await two.shared.readRef(results), landed);
      });
    });

    test('if a line was rewound elsewhere, commits that only this clone had are kept', async () => {
      const landed = commitOn(one, base, 'landed');
      valueOf(await one.shared.updateRef(land, landed, null, 'x'));
      const other = commitOn(two, base, 'other');
      valueOf(await two.shared.updateRef(land, other, landed, 'drover: take in main'));
      assert.equal(await one.shared.readRef(land), other);
      assert.equal(one.git('rev-parse', land), other);
      const kept = `refs/drover/rescue/lines/main/${landed.slice(0, 12)}`;
      assert.equal(one.git('rev-parse', kept), landed);
    });

    test('other machines find snapshots', async () => {
      const task = await begin(one, 't-1');
      fleet.fixture.write(join(task.path, 'left.txt'), 'x\n');
      const ref = await snapshotRef(one.shared, task.path, 't-1/1');
      await one.shared.settled();
      assert.equal(fleet.remoteRef(ref ?? ''), one.git('rev-parse', ref ?? ''));
      assert.deepEqual(one.reports, []);
      assert.equal(valueOf(await two.shared.lastSnapshot('t-1/1')), null, 'it has none of its own');
      const found = valueOf(await two.shared.lastSnapshot('t-1/1', 'anywhere'));
      assert.equal(found?.commit, one.git('rev-parse', ref ?? ''));
      assert.equal(valueOf(await two.shared.lastSnapshot('t-2/1', 'anywhere')), null);
      const other = await begin(two, 't-2');
      const { path } = other;
      valueOf(await two.shared.restore({ path, commit: found?.commit ?? '' }));
      assert.equal(readFileSync(join(path, 'left.txt'), 'utf8'), 'x\n');
    });

    test('held and ignored files do not leave the machine', async () => {
      const files = [
        ['.env', 'K=1'],
        ['out/x.log', 'x'],
      ] as const;
      for (const [index, [file, text]] of files.entries()) {
        const task = await begin(one, `t-${index}`);
        fleet.fixture.write(join(one.root, '.gitignore'), '*.log\n');
        fleet.fixture.write(join(task.path, file), text);
        fleet.fixture.write(join(task.path, 'fine.txt'), text);
        const ref = (await snapshotRef(one.shared, task.path, `t-${index}/1`)) ?? '';
        await one.shared.settled();
        assert.notEqual(one.git('rev-parse', ref), '');
        assert.equal(fleet.remoteRef(ref), null);
      }
    });

    test('a secret that an agent committed stays here, and this is reported', async () => {
      const task = await begin(one, 't-1');
      fleet.fixture.write(join(task.path, '.env'), 'K=1\n');
      fleet.fixture.gitIn(task.path, 'add', '-f', '.env');
      fleet.fixture.gitIn(
        task.path,
        '-c',
        'user.name=a',
        '-c',
        'user.email=a@b',
        'commit',
        '-qm',
        'oops',
      );
      const done = valueOf(await one.shared.commitLeftovers(leftoversOf(task)));
      assert.deepEqual(done.held, ['.env']);
      assert.equal(fleet.remoteRef(`refs/heads/${task.branch}`), null);
      assert.match(
        one.reports.join('\n'),
        /\.env must not leave this machine: drover\/t-1\/1 is not pushed/,
      );
    });

    test('a landing costs the fetch of its work and two pushes, and the first landing takes the line', async () => {
      const started: string[] = [];
      const elsewhere = ({ args }: { readonly args: readonly string[] }): null => {
        started.push(args.find((arg) => /^[a-z]+(?:-[a-z]+)*$/.test(arg)) ?? '');
        return null;
      };
      const { shared: git } = await openMachine(
        fleet.fixture,
        one,
        'one',
        { freshMs: 60_000 },
        { elsewhere },
      );
      let tip = base;
      valueOf(await git.updateRef(land, base, null, 'begin'));
      const landings = [];
      for (const id of ['t-1', 't-2']) {
        const commit = await work(two, id, `${id}.txt`);
        started.length = 0;
        valueOf(await git.ownLine('main'));
        assert.equal(await git.readRef(land), tip);
        assert.equal(await git.readRef(main), tip);
        const merged = valueOf(await git.merge({ tip, commit, subject: 's', trailers: [] }));
        assert.ok(merged.kind === 'merged');
        valueOf(await git.updateRef(land, merged.commit, tip, 'drover: land', 'owner'));
        tip = merged.commit;
        assert.equal(await git.readRef(land), tip);
        const followed = valueOf(await git.follow(main, tip, 'fast-forward'));
        assert.deepEqual(followed, { kind: 'followed', sha: tip });
        assert.equal(await git.readRef('refs/heads/drover/results/main'), null);
        landings.push([...started]);
      }
      const network = landings.map((names) =>
        names.filter((name) => ['fetch', 'push', 'ls-remote'].includes(name)),
      );
      assert.deepEqual(network, [
        ['fetch', 'push', 'fetch', 'push', 'push'],
        ['fetch', 'push', 'push'],
      ]);
      assert.ok((landings[1]?.length ?? 99) <= 11, landings[1]?.join(' '));
    });

    test('large files are uploaded before the commits that name them', async () => {
      const bin = join(fleet.fixture.home, 'bin');
      const said = join(fleet.fixture.home, 'uploaded');
      const script = '#!/bin/sh\n{ echo "$@"; cat; } >> "$UPLOADED"\n';
      fleet.fixture.write(join(bin, 'git-lfs'), script);
      chmodSync(join(bin, 'git-lfs'), 0o755);
      fleet.fixture.write(join(one.root, '.gitattributes'), '*.bin filter=lfs\n');
      const environment = {
        ...fleet.fixture.environment,
        PATH: `${bin}:${process.env['PATH'] ?? ''}`,
        UPLOADED: said,
      };
      const machine = await openMachine(fleet.fixture, one, 'one', {}, { environment });
      const commit = await work(machine, 't-1', 'a.bin');
      const zero = '0'.repeat(40);
      const ref = 'refs/heads/drover/t-1/1';
      const lines = `pre-push origin origin\n${ref} ${commit} ${ref} ${zero}\n`;
      assert.equal(readFileSync(said, 'utf8'), lines);
      assert.equal(fleet.remoteRef(ref), commit);
    });

    test('several processes in one clone do not interfere with each other', async () => {
      const same = await Promise.all([1, 2, 3].map(() => openMachine(fleet.fixture, one, 'one')));
      let tip: string | null = null;
      for (let round = 0; round < 4; round += 1) {
        const next = commitOn(two, base, `round ${round}`);
        valueOf(await two.shared.updateRef(land, next, tip, 'x'));
        tip = next;
        const seen = await Promise.all(same.map(({ shared }) => shared.readRef(land)));
        assert.deepEqual(seen, [next, next, next]);
      }
      assert.equal(one.git('rev-parse', land), tip);
    });

    test('a server that does not serve single commits is supported', async () => {
      one.git('config', 'protocol.version', '0');
      const commit = await work(two, 't-1', 'a.txt');
      const later = await work(two, 't-1', 'b.txt');
      assert.equal(await one.shared.isAncestor(base, commit), true);
      assert.equal(await one.shared.isAncestor(commit, later), false);
    });

    test('a commit that no ref of the remote names is fetched, and a missing commit is not an error', async () => {
      const commit = commitOn(one, base, 'loose');
      const nowhere = '0123456789012345678901234567890123456789';
      assert.equal(await two.shared.isAncestor(base, commit), false);
      assert.equal(await two.shared.isAncestor(base, nowhere), false);
      assert.equal(kindOf(await two.shared.treeOf(nowhere)), 'unknown_ref');
      one.git('push', '-q', 'origin', `${commit}:refs/drover/rescue/x`);
      const three = await fleet.machine('three');
      assert.equal(await three.shared.isAncestor(base, commit), true);
      assert.equal(valueOf(await three.shared.resolve(commit)), commit);
    });
  });
}
