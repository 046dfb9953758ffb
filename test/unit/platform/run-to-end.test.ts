// Programs that hang, each in a different way: the result comes in time, and no process of the
// group survives.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd, type ProgramRequest } from '../../../server/platform/run-to-end.ts';
import { removeFolder } from '../../remove-folder.ts';

const timeoutMs = 300;
const killGraceMs = 300;
/** On a busy machine; a hanging program would take a minute. */
const withinMs = 15_000;

interface Hang {
  readonly name: string;
  /** A script for sh; $1 is a folder for files with process ids. */
  readonly script: string;
  readonly problem: 'timeout' | null;
  /** Files in the folder that name processes which must have ended. */
  readonly gone: readonly string[];
  readonly stdout?: string;
}

const hangs: readonly Hang[] = [
  {
    name: 'sleeps',
    script: 'sleep 60',
    problem: 'timeout',
    gone: [],
  },
  {
    name: 'ignores SIGTERM',
    script: 'trap "" TERM; while :; do sleep 60; done',
    problem: 'timeout',
    gone: [],
  },
  {
    name: 'is stopped',
    script: 'kill -STOP $$; sleep 60',
    problem: 'timeout',
    gone: [],
  },
  {
    name: 'waits for a child that ignores SIGTERM',
    script:
      '(trap "" TERM; sh -c \'echo $PPID > "$1/child"\' sh "$1"; while :; do sleep 60; done) & wait',
    problem: 'timeout',
    gone: ['child'],
  },
  {
    name: 'exits and leaves a child that holds the output',
    script: 'echo done; sleep 60 &',
    problem: null,
    gone: [],
    stdout: 'done\n',
  },
  {
    name: 'exits and leaves a daemon of another session that holds the output',
    script: 'echo done; setsid sleep 60 &',
    problem: null,
    gone: [],
    stdout: 'done\n',
  },
  {
    name: 'is killed while a daemon of another session holds the output',
    script: 'echo begun; setsid sleep 20 & sleep 60',
    problem: 'timeout',
    gone: [],
    stdout: 'begun\n',
  },
  {
    name: 'waits for input that never ends for its child',
    script: 'cat <&0 > /dev/null; sleep 60',
    problem: 'timeout',
    gone: [],
  },
  {
    name: 'prints without end to standard error',
    script: 'while :; do echo noise >&2; sleep 0.05; done',
    problem: 'timeout',
    gone: [],
  },
  {
    name: 'waits for a stopped child',
    script: 'sh -c \'echo $$ > "$1/child"; kill -STOP $$; sleep 60\' sh "$1" & wait',
    problem: 'timeout',
    gone: ['child'],
  },
];

suite('run a program to its end', () => {
  let folder = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-ends-'));
  });
  teardown(() => removeFolder(folder));

  const request = (script: string, more: Partial<ProgramRequest> = {}): ProgramRequest => ({
    program: '/bin/sh',
    args: ['-c', script, 'sh', folder],
    env: { PATH: '/usr/bin:/bin' },
    input: null,
    timeoutMs,
    killGraceMs,
    signal: null,
    maxOutputBytes: 1024 * 1024,
    ...more,
  });

  for (const hang of hangs) {
    test(`a program that ${hang.name} ends within its time limit`, async () => {
      const startedMs = performance.now();
      const end = await runToEnd(request(hang.script));
      const tookMs = performance.now() - startedMs;
      assert.equal(end.problem, hang.problem);
      if (hang.problem === null) assert.equal(end.code, 0);
      if (hang.stdout !== undefined) assert.equal(end.stdout.toString(), hang.stdout);
      assert.ok(tookMs < withinMs, `it took ${Math.round(tookMs)} ms`);
      for (const name of hang.gone)
        await untilGone(Number(readFileSync(join(folder, name), 'utf8')));
    });
  }

  test('all output of a program that exits by itself is returned', async () => {
    const end = await runToEnd(request('seq 1 20000; exit 3', { timeoutMs: 60_000 }));
    assert.equal(end.code, 3);
    assert.equal(end.problem, null);
    assert.ok(end.stdout.toString().endsWith('19999\n20000\n'));
  });

  test('output beyond the limit ends the program', async () => {
    const end = await runToEnd(request('yes', { maxOutputBytes: 1_000, timeoutMs: 60_000 }));
    assert.equal(end.problem, 'too_much_output');
    assert.equal(end.stdout.length, 1_000);
  });

  test('a missing program is reported as missing', async () => {
    const end = await runToEnd(request('', { program: join(folder, 'none') }));
    assert.equal(end.problem, 'missing');
    assert.equal(end.code, null);
  });

  test('an aborted program is killed with its children', async () => {
    const controller = new AbortController();
    const script = 'sleep 60 & echo $! > "$1/child"; echo ready; wait';
    const running = runToEnd(request(script, { signal: controller.signal, timeoutMs: 60_000 }));
    while (!existsSync(join(folder, 'child'))) await tick();
    controller.abort();
    const end = await running;
    assert.equal(end.problem, 'aborted');
    await untilGone(Number(readFileSync(join(folder, 'child'), 'utf8')));
  });
});

/** A killed process is gone once its new parent has collected it. */
async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
      if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) return;
    } catch {
      return;
    }
    await tick();
  }
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
