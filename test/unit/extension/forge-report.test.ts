// The rows of the page of Check Pull Request Rules.

import assert from 'node:assert/strict';
import { forgeReport } from '../../../extension/project/forge-report.ts';

const check = (name: string, message: string, ok = true) => ({ name, ok, message });
const answer = (...checks: readonly object[]): string => JSON.stringify({ checks });

suite('the table of requirements for pull requests', () => {
  test('problems come first, and only requirements of pull requests are listed', () => {
    const { isBlocked, rows } = forgeReport(
      answer(
        check('git', '2.50'),
        check('forge repository', 'acme/shop on github.com, as lead.'),
        check('forge approvals', 'warning: main needs 1 approval.'),
      ),
    );
    assert.equal(isBlocked, false);
    assert.deepEqual(rows, [
      { topic: 'Approvals', level: 'warning', message: 'main needs 1 approval.' },
      { topic: 'Repository', level: 'pass', message: 'acme/shop on github.com, as lead.' },
    ]);
  });

  test('a refusal blocks them', () => {
    const { isBlocked, rows } = forgeReport(answer(check('forge push', 'Git cannot push.', false)));
    assert.equal(isBlocked, true);
    assert.deepEqual(rows, [{ topic: 'Push', level: 'error', message: 'Git cannot push.' }]);
  });

  test('a project without a forge has one row', () => {
    const { rows } = forgeReport(answer(check('forge', 'No remote.', false)));
    assert.deepEqual(rows, [{ topic: 'Repository', level: 'error', message: 'No remote.' }]);
  });
});
