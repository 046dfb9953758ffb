// Contents that only a filter's program can produce: while the program is missing, no attempt is
// used.

import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { useProjects } from './support/suite-projects.ts';

suite('file contents that git cannot write', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('a filter whose program is missing blocks the task, and uses no attempt', async () => {
    const here = project({ files: { '.gitattributes': '*.bin filter=big\n', 'a.bin': 'big\n' } });
    const program = join(here.folder, 'big-filter');
    here.git('config', 'filter.big.smudge', program);
    here.git('config', 'filter.big.required', 'true');
    here.git('config', 'filter.big.clean', 'cat');
    await here.expect(0, ['init']);
    const id = await here.add('one');
    await here.expect(2, ['run']);
    const task = await here.task(id);
    assert.deepEqual([task.status, task.attempts], ['blocked', 0]);
    assert.match(task.blocked_reason ?? '', /smudge filter big failed.*Install the program/su);
    here.write('big-filter', '#!/bin/sh\nexec cat\n');
    chmodSync(program, 0o755);
    await here.expect(0, ['resolve', id, '--note', 'installed']);
    await here.expect(0, ['run']);
    assert.equal((await here.task(id)).status, 'completed');
  });
});
