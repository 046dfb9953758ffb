// The rows that the command Check Pull Request Rules shows.

import assert from 'node:assert/strict';
import { forgeReport } from '../../../extension/project/forge-report.ts';

const check = (name: string, message: string, ok = true) => ({ name, ok, message });
const answer = (...checks: readonly object[]): string => JSON.stringify({ checks });

suite('the list of requirements for pull requests', () => {
  test('problems come first, and only requirements of pull requests are listed', () => {
    const { title, rows } = forgeReport(
      answer(
        check('git', '2.50'),
        check('forge repository', 'acme/shop on github.com, as lead.'),
        check('forge approvals', 'warning: main needs 1 approval.'),
      ),
    );
    assert.equal(title, 'What Pull Requests Need');
    assert.deepEqual(rows, [
      { label: '$(warning) Approvals', detail: 'main needs 1 approval.' },
      { label: '$(pass) Repository', detail: 'acme/shop on github.com, as lead.' },
    ]);
  });

  test('the title says what prevents them', () => {
    const { title, rows } = forgeReport(answer(check('forge push', 'Git cannot push.', false)));
    assert.equal(title, 'Pull Requests Cannot Land');
    assert.deepEqual(rows, [{ label: '$(error) Push', detail: 'Git cannot push.' }]);
  });

  test('a project without a forge has one row, and text from the forge adds no icons', () => {
    const { rows } = forgeReport(answer(check('forge', 'No remote $(check).', false)));
    assert.deepEqual(rows, [{ label: '$(error) Repository', detail: 'No remote $ (check).' }]);
  });
});
