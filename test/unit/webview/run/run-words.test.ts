import assert from 'node:assert/strict';
import { runTitle } from '../../../../webview/run/run-words.ts';

suite('the text of a run', () => {
  test('its name shows whether it was for everything, an epic or chosen tasks', () => {
    const title = (epic_title: string | null, tasks: number | null): string =>
      runTitle({ epic_title, tasks });
    assert.equal(title(null, null), 'All open tasks');
    assert.equal(title('Parser', null), 'Parser');
    assert.equal(title(null, 2), 'Chosen tasks');
    assert.equal(title('Parser', 1), 'Chosen tasks of Parser');
  });
});
