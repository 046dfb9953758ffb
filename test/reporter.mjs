// Mocha's spec reporter that also leaves the numbers in a file, so that the closing line can add them up.

import { writeFileSync } from 'node:fs';
import Mocha from 'mocha';

export default class Numbers extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const { passes, failures } = runner.stats;
      writeFileSync(
        options.reporterOption?.output ?? options.reporterOptions.output,
        JSON.stringify({ passes, failures }),
      );
    });
  }
}
