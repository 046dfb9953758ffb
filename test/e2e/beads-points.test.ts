// The real `bd`, in both versions, with a real project: what Beads users expect from Drover, point
// by point.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import type { Project } from './support/project.ts';
import { bdFolder, type BdVersion, bdVersions } from './support/real-bd.ts';
import { useProjects } from './support/suite-projects.ts';

interface Issue {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly priority: number;
  readonly issue_type: string;
}

class Beads {
  readonly #here: Project;
  readonly env: Readonly<Record<string, string>>;

  constructor(here: Project, version: BdVersion) {
    this.#here = here;
    this.env = {
      PATH: `${bdFolder(version)}:${here.env['PATH'] ?? ''}`,
      BEADS_NO_DAEMON: '1',
      BD_NON_INTERACTIVE: '1',
    };
    this.bd('init', '--prefix', 'bd');
  }

  bd(...args: readonly string[]): string {
    const { root, env } = this.#here;
    const all = { ...env, ...this.env };
    return execFileSync('bd', args, { cwd: root, env: all, encoding: 'utf8', stdio: 'pipe' });
  }

  create(title: string, ...more: readonly string[]): string {
    return (JSON.parse(this.bd('create', title, '--json', ...more)) as Issue).id;
  }

  issues(...args: readonly string[]): Map<string, Issue> {
    const found = JSON.parse(this.bd(...args, '--json')) as readonly Issue[] | null;
    return new Map((found ?? []).map((one) => [one.id, one]));
  }

  /**
   * Also undefined while a sync writes, because the older bd refuses to read beside a newer file.
   */
  issue(id: string): Issue | undefined {
    try {
      return this.issues('show', id).get(id);
    } catch {
      return undefined;
    }
  }

  async sync(): Promise<void> {
    await this.#here.expect(0, ['sync', 'beads', '.'], { env: this.env });
  }
}

suite('the expectations of users of the real bd', function () {
  this.timeout(600_000);
  const project = useProjects({ isEachProcess: true });

  async function begin(version: BdVersion): Promise<readonly [Project, Beads]> {
    const here = project({ agent: writesOneFile, settings: 'max_attempts = 1\n' });
    const beads = new Beads(here, version);
    await here.expect(0, ['init']);
    return [here, beads];
  }

  for (const version of bdVersions) {
    test(`bd ${version}: priorities survive a round trip, and issues that are ready there are ready here`, async () => {
      const [here, beads] = await begin(version);
      const ids = [0, 1, 2, 3, 4].map((p) => beads.create(`P${p}`, '-p', String(p)));
      const [first = '', second = '', third = '', fourth = '', fifth = ''] = ids;
      beads.bd('dep', 'add', second, first);
      beads.bd('update', third, '--status', 'deferred');
      beads.bd('update', fourth, '--status', 'in_progress', '--assignee', 'ada');
      beads.create('Later', '--defer', '2099-01-01');
      beads.create('An epic', '-t', 'epic');
      await beads.sync();
      const out = join(here.folder, 'fresh.jsonl');
      await here.expect(0, ['export', '-f', 'beads', '-o', out]);
      const fresh = readFileSync(out, 'utf8').trim().split('\n');
      const priorities = new Map(
        fresh.map((line) => JSON.parse(line) as Issue).map((one) => [one.id, one.priority]),
      );
      assert.deepEqual(
        ids.map((id) => priorities.get(id)),
        [0, 1, 2, 3, 4],
      );
      const there = [...beads.issues('ready').values()].filter(
        ({ issue_type: type }) => type !== 'epic',
      );
      const { tasks } = await here.status();
      assert.deepEqual(
        tasks
          .filter(({ status }) => status === 'ready')
          .map(({ id }) => id)
          .toSorted(),
        there.map(({ id }) => id).toSorted(),
      );
      assert.deepEqual(there.map(({ id }) => id).toSorted(), [first, fifth].toSorted());
    });

    test(`bd ${version}: closed, reopened, deferred and deleted issues are handled`, async () => {
      const [here, beads] = await begin(version);
      const [closed, deferred, deleted] = ['A', 'B', 'C'].map((title) => beads.create(title));
      const statusOf = async (id = ''): Promise<string> => (await here.task(id)).status;
      await beads.sync();
      beads.bd('close', closed ?? '');
      beads.bd('update', deferred ?? '', '--status', 'deferred');
      beads.bd('delete', deleted ?? '', '--force');
      await beads.sync();
      assert.deepEqual(
        [await statusOf(closed), await statusOf(deferred), await statusOf(deleted)],
        ['completed', 'paused', 'cancelled'],
      );
      beads.bd('reopen', closed ?? '');
      beads.bd('update', deferred ?? '', '--status', 'open');
      await beads.sync();
      assert.deepEqual([await statusOf(closed), await statusOf(deferred)], ['ready', 'ready']);
    });

    test(`bd ${version}: issues are found, claimed and closed during a run with a dirty .beads`, async () => {
      const [here, beads] = await begin(version);
      const work = beads.create('Work');
      await beads.sync();
      await here.expect(0, ['add', 'Made here']);
      await beads.sync();
      const own = [...beads.issues('list').values()].find(({ title }) => title === 'Made here');
      assert.match(own?.id ?? '', /^bd-/u);
      here.git('add', '-A');
      here.git('commit', '-qm', 'Beads');
      const watch = here.start(['sync', 'beads', '.', '--watch'], { env: beads.env });
      await watch.line((line) => line.startsWith('Watching'), 'stderr');
      const red = await here.drover(['run', '--gate', `test ! -e ${work}.txt`]);
      assert.equal(red.code, 1, red.stderr);
      assert.notEqual(beads.issue(work)?.status, 'closed');
      const found = beads.create('Found');
      await eventually('bd told Drover', async () =>
        (await here.status()).tasks.some(({ id }) => id === found),
      );
      for (const { id, status } of (await here.status()).tasks)
        if (status === 'failed') await here.expect(0, ['retry', id]);
      await here.drover(['run', '--gate', 'true', '-w', '2']);
      await eventually('all are closed in bd', () =>
        [work, found, own?.id ?? ''].every((id) => beads.issue(id)?.status === 'closed'),
      );
      watch.signal('SIGINT');
      assert.equal((await watch.ended).code, 130);
      // The older bd drops the reason when it imports the closing.
      const lines = readFileSync(join(here.root, '.beads/issues.jsonl'), 'utf8');
      if (version !== '0.49.6')
        assert.ok(lines.includes(`Landed as ${String((await here.task(work)).landed_sha)}`));
      assert.equal(here.git('rev-parse', 'main'), here.git('rev-parse', 'refs/drover/land/main'));
    });
  }
});
