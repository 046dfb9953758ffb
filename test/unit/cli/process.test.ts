// The command as a real process: pipes that close, signals, exit codes.

import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { droverVersion } from '../../../server/protocol/version.ts';

const program = fileURLToPath(new URL('../../doubles/command-process.ts', import.meta.url));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(
  args: readonly string[],
  onLine: (child: ChildProcess) => void = () => {},
): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: '/usr/bin:/bin' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  let seen = false;
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
    if (seen) return;
    seen = true;
    onLine(child);
  });
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

suite('the process', () => {
  test("the version is the package's version", async () => {
    const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
    assert.equal((JSON.parse(manifest) as { version: string }).version, droverVersion);
    const { code, out } = await start(['--version']);
    assert.deepEqual([code, out], [0, `${droverVersion}\n`]);
  });

  test('a reader that disconnects ends a stream quietly', async () => {
    const { code, err } = await start(['events', '--follow', '--json'], (child) => {
      child.stdout?.destroy();
    });
    assert.deepEqual([code, err], [0, '']);
  });

  test('an answer that cannot be written is a failure', () => {
    if (!existsSync('/dev/full')) return;
    const full = openSync('/dev/full', 'w');
    const { status } = spawnSync(process.execPath, [program, 'status', '--json'], {
      env: { PATH: '/usr/bin:/bin' },
      stdio: ['ignore', full, 'ignore'],
    });
    closeSync(full);
    assert.equal(status, 1);
  });

  test('two SIGINTs at once (terminal and launcher) stop the run cleanly and exit with 130', async () => {
    const { code, out, err } = await start(['run', '--json'], (child) => {
      child.kill('SIGINT');
      setImmediate(() => child.kill('SIGINT'));
    });
    assert.equal(code, 130);
    assert.match(err, /drover resume/u);
    const types = out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => (JSON.parse(line) as { type: string }).type);
    assert.deepEqual(types.slice(-2), ['run.stopped', 'run.finished']);
  });

  test('SIGTERM stops the run too', async () => {
    const { code, err } = await start(['run'], (child) => child.kill('SIGTERM'));
    assert.equal(code, 130);
    assert.match(err, /drover resume/u);
  });

  test('a large answer arrives completely', async () => {
    const { code, out } = await start(['events', '--follow', '--limit', '500', '--json']);
    assert.equal(code, 0);
    assert.equal(out.trim().split('\n').length, 500);
  });
});
