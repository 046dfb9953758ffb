// A job of the test runner with real processes: it ends in time, together with the processes that
// it started.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import { processesOf } from '../../e2e/support/processes.ts';
import { removeFolder } from '../../remove-folder.ts';
import { JobCpu, leftIn } from '../../runner/job-cpu.ts';
import { startJob } from '../../runner/run-job.ts';
import { jobNamed } from './jobs.ts';

suite('the process of a test job', () => {
  const base = mkdtempSync(join(tmpdir(), 'drover-runner-'));
  suiteTeardown(() => removeFolder(base));
  let count = 0;
  const shell = (script: string, more: Parameters<typeof jobNamed>[1] = {}, cpu?: JobCpu) => {
    count += 1;
    const folder = join(base, String(count));
    const job = jobNamed('a', { program: '/bin/sh', args: ['-c', script], ...more });
    return { folder, running: startJob(job, folder, cpu) };
  };

  test('it has its own temporary folder, which is removed afterwards', async () => {
    const { folder, running } = shell('echo "$TMPDIR"; touch "$TMPDIR/x"; echo no >&2; exit 3');
    const outcome = await running.outcome;
    assert.equal(outcome.output, `${folder}\nno\n`);
    assert.equal(outcome.failures[0]?.title, 'ended with exit code 3');
    assert.ok(!existsSync(folder));
  });

  test('it reports the CPU time of the processes that it waited for', async () => {
    const busy = `'${process.execPath}' -e 'while (process.cpuUsage().user < 150_000);'`;
    const { running } = shell(busy);
    const { cpuMs, failures } = await running.outcome;
    assert.deepEqual(failures, []);
    assert.ok(cpuMs >= 140, String(cpuMs));
  });

  test('it reports the CPU time of processes that outlive their parent', async () => {
    const busy = `'${process.execPath}' -e 'while (process.cpuUsage().user < 150_000); setTimeout(() => fs.writeFileSync(process.env.TMPDIR + "/done", ""), 0); setTimeout(() => {}, 100_000)'`;
    const cpu = new JobCpu();
    const { running } = shell(
      `(${busy} &); until [ -e "$TMPDIR/done" ]; do sleep 0.05; done`,
      {},
      cpu,
    );
    const { cpuMs, failures } = await running.outcome;
    cpu.close();
    assert.deepEqual(failures, []);
    assert.ok(cpuMs >= 140 || process.platform !== 'linux', String(cpuMs));
  });

  test('a killed runner leaves nothing behind: no jobs, no processes outside their group, no folder', async () => {
    const note = join(base, 'note');
    const job = `trap '' TERM HUP; setsid sh -c 'trap "" TERM; sleep 100' & echo "$TMPDIR" > '${note}'; sleep 100`;
    const runner = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        `import { Run } from ${JSON.stringify(join(import.meta.dirname, '../../runner/run.ts'))};
         import { jobNamed } from ${JSON.stringify(join(import.meta.dirname, 'jobs.ts'))};
         const run = new Run({ room: { cores: 1, jobs: 1, timed: 1 }, expected: { lengthMs: () => 0, cores: () => 1 }, isVerbose: false });
         await run.queue([jobNamed('a', { program: '/bin/sh', args: ['-c', ${JSON.stringify(job)}] })], () => {});`,
      ],
      { stdio: 'inherit' },
    );
    await eventually(
      'the job is at work',
      () => existsSync(note) && readFileSync(note, 'utf8').endsWith('\n'),
    );
    const folder = dirname(readFileSync(note, 'utf8').trim());
    assert.ok(processesOf(folder).length > 1);
    runner.kill('SIGKILL');
    await eventually(
      'nothing of it is left',
      () => processesOf(folder).length === 0 && !existsSync(folder),
    );
  });

  test('it is killed at its time limit, with processes that left its group and ignore the signal', async () => {
    const script = `trap '' TERM; setsid sh -c 'trap "" TERM; echo up > "$TMPDIR/up"; sleep 100' & sleep 100`;
    const { folder, running } = shell(script, { limitMs: 500 });
    const outcome = await running.outcome;
    assert.match(outcome.failures[0]?.title ?? '', /^was stopped after/);
    assert.deepEqual(processesOf(folder), []);
  });

  test('it is killed on request', async () => {
    const { folder, running } = shell('echo up > "$TMPDIR/up"; sleep 100');
    const path = join(folder, 'up');
    await eventually('it is up', () => existsSync(path) && readFileSync(path, 'utf8') === 'up\n');
    await running.end();
    const { failures } = await running.outcome;
    assert.equal(failures.length, 1);
    assert.deepEqual(processesOf(folder), []);
  });

  test('the CPU time of a tree counts once: below the shell through the shell, elsewhere with its children', () => {
    const [shell, backend, agent, child] = [10, 20, 21, 11];
    const own = new Map([
      [shell, { parent: 1, cpuMs: 5 }],
      [child, { parent: shell, cpuMs: 50 }],
      [backend, { parent: 1, cpuMs: 300 }],
      [agent, { parent: backend, cpuMs: 40 }],
    ]);
    assert.deepEqual([...leftIn(own, shell)], [[backend, 340]]);
  });
});
