// `--attach`: images of descriptions from the command line.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { drover } from '../../doubles/drover.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('images on the command line', () => {
  let folder = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-attach-'));
  });
  teardown(() => removeFolder(folder));

  function file(name: string, content: string): string {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  }

  test('images are stored first, and are at the end of the description', async () => {
    const path = file('the shot.gif', 'GIF89a');
    const image = `![the shot.gif](attachment:${'0'.repeat(64)}.gif)`;
    const added = await drover(['add', 'T', '-d', 'Mend it.', '--attach', path]);
    assert.deepEqual(added.backend.calls, [
      { name: 'attachment.add', params: { content: 'R0lGODlh' } },
      { name: 'task.add', params: { title: 'T', description: `Mend it.\n\n${image}` } },
    ]);
    const backend = memoryBackend();
    backend.setTask({ id: 'task-1', description: 'Old.' });
    await drover(['edit', 'task-1', '--attach', path, '--attach', path], backend);
    assert.deepEqual(backend.calls.at(-1)?.params, {
      id: 'task-1',
      description: `Old.\n\n${image}\n\n${image}`,
    });
    const text = await drover(['add', 'T', '--attach', file('a.png', 'no image')]);
    assert.match(text.err, /a\.png cannot be attached: it is not a PNG, JPEG, GIF or WebP image/u);
    assert.deepEqual([text.code, text.backend.calls], [3, []]);
  });
});
