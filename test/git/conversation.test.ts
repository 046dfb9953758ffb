// A long-lived git process answers in order, is replaced when it dies, and exits with its owner.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import type { Conversation } from '../../server/git/git-command.ts';
import { openGitProcesses } from '../../server/git/process/process.ts';
import { programOnPath } from '../../server/files/program-path.ts';
import { makeFixture, type Fixture } from './fixture.ts';

/** Answers a line with git's process id and the line. */
const talks = 'while read -r line; do case $line in';
const script = `!f() { ${talks} die) echo "no reason to stay" >&2; exit 3;; long) yes;; once) if [ -e once ]; then echo "$PPID once"; else : > once; fi;; *) echo "$PPID $line";; esac; done; }; f`;
const args = ['-c', `alias.talk=${script}`, 'talk'];

suite('git: a long-lived process', () => {
  let fixture: Fixture;
  let git: Conversation;
  const binary = programOnPath('git', process.env);

  setup(() => {
    fixture = makeFixture();
    const processes = openGitProcesses({
      binary,
      environment: fixture.environment,
      concurrency: 1,
      maxOutputBytes: 100_000,
      timeoutMs: 10_000,
    });
    git = processes.converse(() => Promise.resolve({ args, cwd: fixture.root }));
  });
  teardown(() => fixture.remove());

  const ask = async (line: string): Promise<{ readonly pid: number; readonly said: string }> => {
    const answer = await git.ask({
      input: `${line}\n`,
      read: (output) => (output.includes('\n') ? output.toString().trim() : null),
    });
    if (!answer.ok) assert.fail(JSON.stringify(answer.error));
    const [pid = '', said = ''] = answer.value.split(' ');
    return { pid: Number(pid), said };
  };
  const hasEnded = async (pid: number): Promise<void> => {
    for (;;) {
      try {
        process.kill(pid, 0);
      } catch {
        return;
      }
      await delay(10);
    }
  };

  test('it answers all queries in order', async () => {
    const lines = Array.from({ length: 50 }, (_, at) => `line-${at}`);
    const answers = await Promise.all(lines.map(ask));
    assert.deepEqual(
      answers.map(({ said }) => said),
      lines,
    );
    assert.equal(new Set(answers.map(({ pid }) => pid)).size, 1);
  });

  test('it is replaced when it was killed, even during a query', async () => {
    const first = await ask('one');
    process.kill(-first.pid, 'SIGKILL');
    const second = await ask('two');
    assert.equal(second.said, 'two');
    assert.notEqual(second.pid, first.pid);
    const asked = ask('once');
    while (!existsSync(join(fixture.root, 'once'))) await delay(10);
    process.kill(-second.pid, 'SIGKILL');
    assert.equal((await asked).said, 'once');
  });

  test('it returns the reason for its exit, and the next query starts another process', async () => {
    const answer = await git.ask({ input: 'die\n', read: () => null });
    assert.ok(!answer.ok);
    assert.equal(answer.error.code, 3);
    assert.match(answer.error.stderr, /no reason to stay/);
    assert.equal((await ask('next')).said, 'next');
  });

  test('it is stopped when an answer never ends', async () => {
    const answer = await git.ask({ input: 'long\n', read: () => null });
    assert.equal(answer.ok ? null : answer.error.problem, 'too_much_output');
    assert.equal((await ask('next')).said, 'next');
  });

  test('a missing program is reported', async () => {
    const processes = openGitProcesses({
      binary: '/nowhere/git',
      environment: fixture.environment,
      concurrency: 1,
      maxOutputBytes: 1_000,
      timeoutMs: 10_000,
    });
    const none = processes.converse(() => Promise.resolve({ args, cwd: fixture.root }));
    const answer = await none.ask({ input: 'one\n', read: () => null });
    assert.equal(answer.ok ? null : answer.error.problem, 'missing');
  });

  test('it exits when its owner is killed', async () => {
    const file = fileURLToPath(new URL('conversation-child.ts', import.meta.url));
    const owner = spawn(process.execPath, [file, binary, fixture.root, ...args], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = (await once(owner.stdout, 'data')) as [Buffer];
    const pid = Number(said.toString().split(' ')[0]);
    assert.ok(pid > 0, said.toString());
    owner.kill('SIGKILL');
    await hasEnded(pid);
  });
});
