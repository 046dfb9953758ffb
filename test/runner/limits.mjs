// Loaded by mocha before the tests: a time limit in a suite or a test is meant for an idle machine.

import { Context, Suite } from 'mocha';

/**
 * The minimum time limit of a test: a hanging test is found anyway, and a slow test is not wrong.
 */
const limitMsMin = Number(process.env['DROVER_TEST_LIMIT_MS'] ?? '0');

for (const { prototype } of [Suite, Context]) {
  const own = prototype.timeout;
  prototype.timeout = function timeout(ms) {
    if (arguments.length === 0) return own.call(this);
    // 0 means no limit.
    return own.call(this, ms === 0 ? 0 : Math.max(ms, limitMsMin));
  };
}
