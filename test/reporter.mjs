// Mocha's spec reporter that also leaves the numbers and what failed in a file, so that the closing lines can tell them.

import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

export default class Numbers extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failed = [];
    runner.on('fail', (test, error) => {
      failed.push({ title: test.titlePath().join(' › '), why: String(error?.message ?? error) });
    });
    runner.once('end', () => {
      const { passes, failures } = runner.stats;
      writeFileSync(
        options.reporterOption?.output ?? options.reporterOptions.output,
        JSON.stringify({ passes, failures, failed }),
      );
    });
  }
}
