// The place of a task's agent, and which setting decides.

import assert from 'node:assert/strict';
import { placeOfTask } from '../../../server/core/work/run-place.ts';

suite('where a task runs', () => {
  const rules = { runsOn: 'local', remoteLabels: ['gpu'] } as const;
  const plain = { runsOn: null, labels: ['ui'], epicRunsOn: null };

  test('the task takes precedence over its labels, its epic and the project, in this order', () => {
    const cases = [
      [
        { ...plain, runsOn: 'local', labels: ['gpu'], epicRunsOn: 'remote' },
        'local: the task says so',
      ],
      [
        { ...plain, labels: ['ui', 'gpu'], epicRunsOn: 'local' },
        'remote: its label gpu is one of [remote] labels',
      ],
      [{ ...plain, epicRunsOn: 'remote' }, 'remote: its epic says so'],
      [plain, 'local: the settings of the project say so'],
    ] as const;
    for (const [task, expected] of cases) {
      const { place, because } = placeOfTask(task, rules);
      assert.equal(`${place}: ${because}`, expected);
    }
  });
});
