// Loaded by mocha before the tests: a limit that a suite or a test gives itself is one for a machine that does nothing else.

import { Context, Suite } from 'mocha';

/**
 * No limit of one test is below it: a hanging test is found anyway, and a slow one is not wrong.
 */
const limitMsMin = Number(process.env['DROVER_TEST_LIMIT_MS'] ?? '0');

for (const { prototype } of [Suite, Context]) {
  const own = prototype.timeout;
  prototype.timeout = function timeout(ms) {
    if (arguments.length === 0) return own.call(this);
    // 0: without a limit.
    return own.call(this, ms === 0 ? 0 : Math.max(ms, limitMsMin));
  };
}
