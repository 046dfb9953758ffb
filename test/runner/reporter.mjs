// Mocha's spec reporter, which also writes the numbers, each file's time and each file's failures
// for the runner.

import { writeFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import Mocha from 'mocha';

const root = resolve(import.meta.dirname, '..', '..');

export default class Numbers extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const output = options.reporterOption?.output ?? options.reporterOptions?.output;
    const failed = [];
    const files = new Map();
    let markMs = performance.now();
    let markCpu = process.cpuUsage();
    // Tests that passed since the last mark, including hooks, belong to the file of the test that
    // has just ended.
    const mark = (file) => {
      const nowMs = performance.now();
      const cpu = process.cpuUsage(markCpu);
      const name = file === undefined ? '' : relative(root, file);
      const times = files.get(name) ?? { file: name, durationMs: 0, cpuMs: 0 };
      times.durationMs += nowMs - markMs;
      times.cpuMs += (cpu.user + cpu.system) / 1_000;
      files.set(name, times);
      markMs = nowMs;
      markCpu = process.cpuUsage();
    };
    runner.on('test end', (test) => mark(test.file));
    runner.on('fail', (test, error) => {
      failed.push({ title: test.titlePath().join(' › '), why: String(error?.message ?? error) });
    });
    runner.once('end', () => {
      const { passes, failures } = runner.stats;
      const told = {
        passed: passes,
        failed: failures,
        failures: failed,
        files: [...files.values()],
      };
      writeFileSync(output, JSON.stringify(told));
    });
  }
}
