// `drover sync beads`, once and in watch mode, on files of the real program and during a real run.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

const fixture = (version: string): string =>
  readFileSync(resolve(import.meta.dirname, `../fixtures/beads/${version}-export.jsonl`), 'utf8');

suite('e2e: drover sync beads', function () {
  this.timeout(120_000);
  const project = useProjects({ isEachProcess: true });

  const fileOf = (here: Project): string => join(here.root, '.beads/issues.jsonl');
  const issuesOf = (here: Project): Map<string, Record<string, unknown>> => {
    const lines = readFileSync(fileOf(here), 'utf8').split('\n');
    const issues = lines
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    return new Map(issues.map((issue) => [String(issue['id']), issue]));
  };
  const issue = (id: string, more: object = {}): string =>
    `${JSON.stringify({ id, title: `Do ${id}`, status: 'open', priority: 2, issue_type: 'task', ...more })}\n`;

  for (const version of ['0.49.6', '1.0.3']) {
    test(`a file of bd ${version} is imported, and stays unchanged`, async () => {
      const here = project();
      const text = fixture(version);
      here.write('repo/.beads/issues.jsonl', text);
      await here.expect(0, ['init']);
      const pass = await here.json<{ imported: { tasks: number }; written: boolean }>([
        'sync',
        'beads',
        '.',
      ]);
      assert.ok(pass.imported.tasks > 20);
      assert.equal(pass.written, false);
      assert.equal(readFileSync(fileOf(here), 'utf8'), text);
      const again = await here.json<{ imported: { tasks: number }; taken: string[] }>([
        'sync',
        'beads',
        '.beads',
      ]);
      assert.deepEqual([again.imported.tasks, again.taken], [0, []]);
    });
  }

  test('a folder without Beads and an invalid line are refused, and nothing is changed', async () => {
    const here = project();
    await here.expect(0, ['init']);
    const nothing = await here.drover(['sync', 'beads', '.']);
    assert.equal(nothing.code, 3);
    assert.match(nothing.stderr, /has no \.beads folder/u);
    const text = `${issue('a')}{"id":\n`;
    here.write('repo/.beads/issues.jsonl', text);
    const broken = await here.drover(['sync', 'beads', '.']);
    assert.equal(broken.code, 3);
    assert.match(broken.stderr, /issues\.jsonl:2: /u);
    assert.equal(readFileSync(fileOf(here), 'utf8'), text);
    assert.deepEqual((await here.status()).tasks, []);
  });

  test('in watch mode, claimed, found, deleted and landed issues arrive on the other side during a run', async () => {
    const here = project({
      agent: `case $id in a|c) read -r line < ../../go-$id;; esac; ${writesOneFile}`,
    });
    const barriers = ['a', 'c'].map((id) => makeBarrier(here.folder, `go-${id}`));
    here.write(
      'repo/.beads/issues.jsonl',
      issue('a') + issue('b', { status: 'deferred' }) + issue('c'),
    );
    await here.expect(0, ['init']);
    await here.expect(0, ['sync', 'beads', '.']);
    const watch = here.start(['sync', 'beads', '.', '--watch', '--json']);
    await watch.line((line) => line.startsWith('Watching'), 'stderr');
    const run = here.start(['run', '-w', '2']);
    await eventually('both are claimed in Beads', () => {
      const issues = issuesOf(here);
      return ['a', 'c'].every((id) => issues.get(id)?.['assignee'] === 'drover');
    });
    // An agent found it during the run.
    const edge = { issue_id: 'd', depends_on_id: 'a', type: 'discovered-from' };
    appendFileSync(fileOf(here), issue('d', { dependencies: [edge] }));
    // Deleted while its agent runs: the agent is stopped, which frees a worker for the new one.
    const text = readFileSync(fileOf(here), 'utf8');
    writeFileSync(
      fileOf(here),
      text
        .split('\n')
        .filter((line) => !line.includes('"id":"c"'))
        .join('\n'),
    );
    await eventually('the new issue is closed by its landing', () => {
      return issuesOf(here).get('d')?.['status'] === 'closed';
    });
    for (const barrier of barriers) barrier.open();
    await run.ended;
    for (const barrier of barriers) barrier.close();
    await eventually('a is closed', () => issuesOf(here).get('a')?.['status'] === 'closed');
    watch.signal('SIGINT');
    assert.equal((await watch.ended).code, 130);
    const [issues, { tasks }] = [issuesOf(here), await here.status()];
    const shaOf = (id: string): unknown => tasks.find((task) => task.id === id)?.landed_sha;
    for (const id of ['a', 'd']) {
      assert.equal(issues.get(id)?.['close_reason'], `Landed as ${String(shaOf(id))}`);
    }
    assert.deepEqual(issues.get('d')?.['dependencies'], [edge]);
    assert.equal(issues.has('c'), false);
    assert.deepEqual(
      ['b', 'c'].map((id) => tasks.find((task) => task.id === id)?.status),
      ['paused', 'cancelled'],
    );
    removeFolder(join(here.root, '.beads'));
  });

  test('eight agents that all change the committed file land at once, and each issue is closed by its landing', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    // Each closes its own issue, records one that it found, and commits the file.
    const found = issue('found-$id', {
      status: 'deferred',
      dependencies: [{ issue_id: 'found-$id', depends_on_id: '$id', type: 'discovered-from' }],
    }).trim();
    const here = project({
      agent: `
cat > /dev/null
read -r line < ../../go
sed -i '/"id":"'"$id"'"/s/"status":"open"/"status":"closed","closed_at":"2026-01-01T00:00:00Z","close_reason":"I did it"/' .beads/issues.jsonl
printf '%s\\n' '${found.replaceAll('$id', `'"$id"'`)}' >> .beads/issues.jsonl
echo "work of $id" > "$id.txt"
git add -A; git commit -qm "$id"
`,
      files: { '.beads/issues.jsonl': ids.map((id) => issue(id)).join('') },
    });
    const barrier = makeBarrier(here.folder, 'go');
    await here.expect(0, ['init']);
    await here.expect(0, ['sync', 'beads', '.']);
    const watch = here.start(['sync', 'beads', '.', '--watch', '--json']);
    await watch.line((line) => line.startsWith('Watching'), 'stderr');
    const run = here.start(['run', '-w', '8']);
    // The claims are written into the checkout's file, which is never clean from then on.
    await eventually('all are claimed in Beads', () => {
      const issues = issuesOf(here);
      return ids.every((id) => issues.get(id)?.['assignee'] === 'drover');
    });
    appendFileSync(fileOf(here), issue('by-hand', { status: 'deferred' }));
    barrier.open(8);
    const ended = await run.ended;
    // The found issue is deferred, so it is left to a person.
    assert.equal(ended.code, 2, ended.stdout + ended.stderr);
    barrier.close();
    await eventually('all are closed in Beads by their landings', () => {
      const issues = issuesOf(here);
      return ids.every((id) => String(issues.get(id)?.['close_reason']).startsWith('Landed as '));
    });
    await eventually('what was found is in the plan', async () => {
      const { tasks } = await here.status();
      return tasks.length === 17;
    });
    watch.signal('SIGINT');
    await watch.ended;

    const [issues, { tasks }] = [issuesOf(here), await here.status()];
    for (const id of ids) {
      const task = tasks.find((one) => one.id === id);
      assert.deepEqual([task?.status, task?.attempts], ['completed', 0], id);
      // The agent's reason is in a line that may arrive only after the landing was written.
      const reason = String(issues.get(id)?.['close_reason']).replace(/: I did it$/u, '');
      assert.equal(reason, `Landed as ${task?.landed_sha}`);
      assert.ok(issues.has(`found-${id}`));
    }
    assert.ok(issues.has('by-hand'));
    const lines = readFileSync(fileOf(here), 'utf8').split('\n').slice(0, -1);
    assert.equal(lines.length, issues.size, 'no issue has two lines');
    assert.deepEqual([issues.size, tasks.length], [17, 17]);
    assert.equal(here.git('rev-parse', 'main'), here.git('rev-parse', 'refs/drover/land/main'));
    assert.equal(here.git('status', '--porcelain').trim(), 'M .beads/issues.jsonl');
    assert.ok(existsSync(join(here.root, 'h.txt')));
  });

  for (const version of ['0.49.6', '1.0.3']) {
    test(`the database of bd ${version} is read before a sync and written after it, also in watch mode`, async () => {
      const here = project();
      const double = resolve(import.meta.dirname, '../doubles/bd.mjs');
      here.write('bin/bd', `#!/bin/sh\nexec "${process.execPath}" "${double}" "$@"\n`);
      chmodSync(join(here.folder, 'bin/bd'), 0o755);
      const env = { BD_VERSION: version, PATH: `${here.folder}/bin:${here.env['PATH'] ?? ''}` };
      const bd = (...args: readonly string[]): void => {
        execFileSync(process.execPath, [double, ...args], {
          cwd: here.root,
          env: { ...process.env, ...env },
        });
      };
      const inDatabase = (id: string): Record<string, unknown> => {
        const text = readFileSync(join(here.root, '.beads/beads.db'), 'utf8');
        return (JSON.parse(text) as Record<string, Record<string, unknown>>)[id] ?? {};
      };
      mkdirSync(join(here.root, '.beads'));
      bd('set', 'bd-a', 'title=in the database alone');
      await here.expect(0, ['init']);
      await here.expect(0, ['sync', 'beads', '.'], { env });
      assert.equal((await here.task('bd-a')).title, 'in the database alone');
      for (const title of ['first', 'second']) {
        await here.expect(0, ['edit', 'bd-a', '--title', title]);
        await here.expect(0, ['sync', 'beads', '.'], { env });
        assert.equal(inDatabase('bd-a')['title'], title);
        assert.equal((await here.task('bd-a')).title, title);
      }
      await here.expect(0, ['pause', 'bd-a'], { env });
      await here.expect(0, ['sync', 'beads', '.'], { env });
      assert.deepEqual(inDatabase('bd-a')['labels'], ['drover:paused']);
      await here.expect(0, ['resume-task', 'bd-a'], { env });
      await here.expect(0, ['sync', 'beads', '.'], { env });
      await here.expect(0, ['sync', 'beads', '.'], { env });
      assert.deepEqual(inDatabase('bd-a')['labels'], []);
      assert.equal((await here.task('bd-a')).status, 'ready');
      const watch = here.start(['sync', 'beads', '.', '--watch'], { env });
      await watch.line((line) => line.startsWith('Watching'), 'stderr');
      bd('set', 'bd-b', 'title=made while watching');
      await eventually('the new issue is a task', async () =>
        (await here.status()).tasks.some(({ id }) => id === 'bd-b'),
      );
      await here.expect(0, ['edit', 'bd-b', '--title', 'edited here']);
      await eventually('bd has the edit', () => inDatabase('bd-b')['title'] === 'edited here');
      watch.signal('SIGINT');
      assert.equal((await watch.ended).code, 130);
    });
  }
});
