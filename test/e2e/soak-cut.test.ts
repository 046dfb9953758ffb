// A soak can be stopped at any time: it reports its results, even if it is killed, and leaves
// nothing running.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { eventually } from './support/eventually.ts';
import { killAllOf, processesOf } from './support/processes.ts';
import { type RunningProgram, startProgram } from './support/run-program.ts';

const root = resolve(import.meta.dirname, '../..');
const report = /^simulation: (\d+) of 10000 seeds\n\n(\d+) passed, 0 failed$/m;

suite('a soak that is stopped', function () {
  this.timeout(240_000);
  let folder = '';
  let log = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'soak-'));
    log = join(folder, 'soak.log');
  });
  teardown(async () => {
    await killAllOf(folder, 100, 50);
    removeFolder(folder);
  });

  const seedsIn = (text: string): number => Number(report.exec(text)?.[1] ?? '0');

  /** Until one job's seeds have passed, and others are running. */
  async function startSoak(): Promise<RunningProgram> {
    const soak = startProgram({
      program: process.execPath,
      args: ['test/runner/soak.ts', '--only', 'simulation', '--seed', '1', '--log', log].concat(
        // One job at a time, with a few seeds each.
        ['--capacity', '0.5', '--batch', '4'],
      ),
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, TMPDIR: folder },
      timeoutMs: 200_000,
    });
    await eventually('some seeds have passed', () => {
      return existsSync(log) && seedsIn(readFileSync(log, 'utf8')) > 0;
    });
    await eventually('others run', () => {
      return processesOf(folder).some(({ what }) => what.includes('test/simulation/main.ts'));
    });
    return soak;
  }
  const nothingIsLeft = (): Promise<true> =>
    eventually('nothing is left', () => processesOf(folder).length === 0);

  test('Ctrl-C makes it report its progress, on the screen and in its log', async () => {
    const soak = await startSoak();
    process.kill(-soak.pid, 'SIGINT');
    const { code, stdout } = await soak.ended;
    assert.equal(code, 130);
    assert.match(stdout, /^60 minutes from seed 1$/m);
    assert.match(stdout, /\nCut off\.\nsimulation: \d+ of 10000 seeds\n\n\d+ passed, 0 failed\n$/);
    const kept = readFileSync(log, 'utf8');
    assert.match(kept, /^ok simulation from 1$/m);
    assert.match(kept, /\n\nCut off\.\nsimulation/);
    assert.equal(seedsIn(kept), seedsIn(stdout));
    await nothingIsLeft();
  });

  test('a killed soak has reported its progress in its log', async () => {
    const soak = await startSoak();
    process.kill(soak.pid, 'SIGKILL');
    await soak.ended;
    const kept = readFileSync(log, 'utf8');
    assert.match(kept, /^60 minutes from seed 1\nok simulation from 1\n/);
    assert.match(kept, /\n\nUnder way, or killed\.\nsimulation/);
    assert.equal(seedsIn(kept) % 4, 0);
    await nothingIsLeft();
  });
});
