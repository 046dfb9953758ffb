// Which `.drover/` counts, searched from a folder upwards.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProject } from '../../../server/project/project-places.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('places of a project', () => {
  let folder = '';
  setup(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-places-')));
    mkdirSync(join(folder, '.drover'));
    mkdirSync(join(folder, 'a', 'b'), { recursive: true });
  });
  teardown(() => removeFolder(folder));

  test('the nearest folder upward is used', () => {
    assert.equal(findProject(join(folder, 'a', 'b')), folder);
  });
  test('S14: a folder that another user created is not used', () => {
    const somebodyElse = (process.getuid?.() ?? 0) + 1;
    assert.notEqual(findProject(join(folder, 'a', 'b'), somebodyElse), folder);
  });
  test("S14: a plan in another user's git folder is not used", () => {
    removeFolder(join(folder, '.drover'));
    for (const name of ['objects', 'drover/fence'])
      mkdirSync(join(folder, '.git', name), { recursive: true });
    for (const name of ['HEAD', 'drover/fence/HEAD'])
      writeFileSync(join(folder, '.git', name), 'ref: refs/heads/main\n');
    const somebodyElse = (process.getuid?.() ?? 0) + 1;
    assert.equal(findProject(join(folder, 'a', 'b')), folder);
    assert.notEqual(findProject(join(folder, 'a', 'b'), somebodyElse), folder);
  });
});
