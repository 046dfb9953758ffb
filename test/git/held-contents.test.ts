// Files are held for a secret in their content, anywhere in the range, and held files never land,
// not even in the history.

import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { secretSearch } from '../../server/agents/secrets/content.ts';
import type { GitRepository } from '../../server/git/port.ts';

import {
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';
import type { CommitLeftoversOutcome } from '../../server/git/slot-port.ts';

/** No file of this repository contains the tested secret itself. */
const key = `ghp_${'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bD0fG3hJ6'}`;
const known = ['kn0wn', 'Value/of', '-a-variable+42'].join('');

suite('git: files held for their contents', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let task: Task;
  setup(async () => {
    fixture = makeFixture();
    const secretsIn = secretSearch([{ name: 'MY_PAT', value: known }]);
    repository = await fixture.open({ secretsIn });
    task = await startTask(fixture, repository, 's0', 'task-1');
  });
  teardown(() => fixture.remove());

  const write = (path: string, content: string | Uint8Array): void =>
    fixture.write(join(task.path, path), content);
  const commitAll = (message: string): void => {
    fixture.gitIn(task.path, 'add', '-A');
    fixture.gitIn(task.path, 'commit', '-qm', message);
  };
  const commitLeftovers = async (): Promise<CommitLeftoversOutcome> =>
    valueOf(await repository.commitLeftovers(leftoversOf(task)));
  const landed = async (done: CommitLeftoversOutcome): Promise<string> => {
    const { base } = task;
    const request = { base, commit: done.commit, held: done.held, subject: 's', trailers: [] };
    const commit = valueOf(await repository.withoutHeld(request));
    assert.ok(commit !== null);
    const objects = fixture.git('rev-list', '--objects', '--no-object-names', `${base}..${commit}`);
    for (const sha of objects.split('\n')) {
      const text = fixture.git('cat-file', '-p', sha);
      assert.ok(!text.includes(key) && !text.includes(known), `${sha} holds it:\n${text}`);
    }
    return commit;
  };

  test('uncommitted files stay in the worktree, and the rest is committed', async () => {
    write('config.ts', `export const t = '${key}';\n`);
    write('ok.ts', 'export const t = process.env.TOKEN;\n');
    const done = await commitLeftovers();
    assert.deepEqual(done.held, ['config.ts']);
    assert.deepEqual(done.heldFor, { 'config.ts': 'GitHub key' });
    assert.equal(fixture.git('ls-tree', '--name-only', `${done.commit}`, 'config.ts'), '');
    assert.match(fixture.git('ls-tree', '--name-only', done.commit), /^ok\.ts$/m);
  });

  test('S22: messages and names with terminal control characters are held, and land without them', async () => {
    const osc = '\u001b]52;c;ZXZpbA==\u0007';
    write('ok.ts', 'export {};\n');
    write(`odd${osc}.ts`, 'export {};\n');
    fixture.gitIn(task.path, 'add', '-A');
    fixture.gitIn(task.path, '-c', `user.name=An ${osc} Agent`, 'commit', '-qm', `done ${osc}`);
    const done = await commitLeftovers();
    assert.deepEqual(done.held, [`odd${osc}.ts`, 'the message of a commit']);
    const commit = await landed(done);
    const told = fixture.git('log', '--format=%an%n%B', `${task.base}..${commit}`);
    assert.equal(told, 'A Person\ns');
    assert.equal(fixture.git('ls-tree', '--name-only', commit, 'ok.ts'), 'ok.ts');
    assert.equal(fixture.git('ls-tree', '-r', '-z', '--name-only', commit).includes(osc), false);
  });

  test('known values are found in every usual encoding', async () => {
    const bytes = Buffer.from(known);
    const wrapped = Buffer.from(`${'x'.repeat(50)}${known}`).toString('base64');
    const files: Record<string, string | Buffer> = {
      'plain.md': `see ${known} there`,
      'data.bin': Buffer.concat([Buffer.from([0, 1, 2]), bytes]),
      'k8s.yaml': `token: ${bytes.toString('base64')}`,
      'wrapped.txt': wrapped.replaceAll(/.{20}/g, '$&\n'),
      'url.txt': `https://a/?t=${encodeURIComponent(known)}`,
      'joined.js': `const a = "${known.slice(0, 9)}" +\n  "${known.slice(9)}";`,
      'escaped.c': [...bytes].map((byte) => `\\x${byte.toString(16)}`).join(''),
      'codes.py': `bytes([${[...bytes].join(', ')}])`,
      'dump.txt': bytes.toString('hex').replaceAll(/../g, '$& '),
      'wide.txt': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(known, 'utf16le')]),
      'back.txt': Array.from(known).toReversed().join(''),
    };
    for (const [path, content] of Object.entries(files)) write(path, content);
    write('part.txt', known.slice(0, -6));
    const done = await commitLeftovers();
    assert.deepEqual(done.held, Object.keys(files).sort());
    assert.equal(done.heldFor?.['wrapped.txt'], 'value of MY_PAT');
  });

  test('if a secret is in the name of a file or a folder, the file is held and listed without the secret', async () => {
    const hex = Buffer.from(known).toString('hex');
    write(`${key}.txt`, 'x\n');
    write(`notes/${hex}/a/x.txt`, 'x\n');
    symlinkSync('README.md', join(task.path, `link-${key}`));
    symlinkSync(`/srv/${key}`, join(task.path, 'target'));
    write('ok.ts', 'export {};\n');
    const done = await commitLeftovers();
    assert.deepEqual(done.held, ['[hidden]', 'notes/[hidden]', 'target']);
    assert.equal(done.heldFor?.['notes/[hidden]'], 'value of MY_PAT in its name');
    assert.equal(done.heldFor?.['[hidden]'], 'GitHub key in its name');
    const names = fixture.git('ls-tree', '-r', '--name-only', done.commit).split('\n');
    assert.deepEqual(names, ['README.md', 'ok.ts', 'src/a.txt', 'src/b.txt']);
  });

  test('if a secret is in a name that was committed and removed, the work lands without that history', async () => {
    write(`src/${key}/config.json`, '{}\n');
    write('src/other.ts', 'export {};\n');
    commitAll('with it');
    fixture.gitIn(task.path, 'mv', `src/${key}/config.json`, 'src/config.json');
    const done = await commitLeftovers();
    assert.deepEqual(done.held, ['src/[hidden]']);
    assert.deepEqual(done.committedSecrets, ['src/[hidden]']);
    const commit = await landed(done);
    assert.equal(fixture.git('show', `${commit}:src/config.json`), '{}');
  });

  test('a name whose secret is no longer known excludes its whole folder', async () => {
    write(`src/${known}`, 'x\n');
    write('src/other.ts', 'export {};\n');
    write('ok.ts', 'export {};\n');
    commitAll('with it');
    const done = await commitLeftovers();
    assert.deepEqual(done.held, ['src/[hidden]']);
    repository = await fixture.open({ secretsIn: secretSearch([]) });
    const commit = await landed(done);
    const names = fixture.git('ls-tree', '-r', '--name-only', commit).split('\n');
    assert.deepEqual(names, ['README.md', 'ok.ts', 'src/a.txt', 'src/b.txt']);
  });

  test('a folder in the base with such a name accepts further files', async () => {
    fixture.write(join(fixture.root, 'odd', key, 'a.txt'), 'a\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'odd');
    task = await startTask(fixture, repository, 's0', 'task-2');
    write(`odd/${key}/b.txt`, 'b\n');
    assert.deepEqual((await commitLeftovers()).held, []);
  });

  test('a secret that was committed and removed again lands in its final state, without that history', async () => {
    write('config.ts', `export const t = '${key}';\n`);
    commitAll('with it');
    write('config.ts', 'export const t = process.env.TOKEN;\n');
    write('gone.txt', known);
    commitAll('without it');
    rmSync(join(task.path, 'gone.txt'));
    const done = await commitLeftovers();
    assert.deepEqual(done.held, ['config.ts', 'gone.txt']);
    assert.deepEqual([...(done.committedSecrets ?? [])].sort(), ['config.ts', 'gone.txt']);
    const commit = await landed(done);
    assert.match(fixture.git('show', `${commit}:config.ts`), /process\.env/);
  });

  test('if a secret is in a commit message, the work lands under another message', async () => {
    write('a.txt', 'harmless\n');
    commitAll(`use ${key}`);
    const done = await commitLeftovers();
    assert.deepEqual(done.held, ['the message of a commit']);
    const commit = await landed(done);
    assert.equal(fixture.git('show', `${commit}:a.txt`), 'harmless');
  });

  test('secrets that the base already contains hold nothing, even if they are moved or edited', async () => {
    fixture.write(join(fixture.root, 'fixture.ts'), `export const t = '${key}';\n`);
    fixture.write(join(fixture.root, 'old.ts'), `export const u = '${key}x';\n`);
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'fixtures');
    task = await startTask(fixture, repository, 's0', 'task-2');
    write('fixture.ts', `export const t = '${key}';\nexport const more = 1;\n`);
    fixture.gitIn(task.path, 'mv', 'old.ts', 'new.ts');
    assert.deepEqual((await commitLeftovers()).held, []);
  });
});
