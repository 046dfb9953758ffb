// If the files were read before a person's run began, the result does not undo the settings that
// the run uses.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveSettings } from '../../../server/project/live-settings.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('live settings', () => {
  let root = '';
  setup(async () => {
    root = await mkdtemp(join(tmpdir(), 'drover-live-'));
    // Accepted settings are kept in git's folder.
    await mkdir(join(root, '.git', 'objects'), { recursive: true });
    await writeFile(join(root, '.git', 'HEAD'), 'ref: refs/heads/main\n');
    await writeFile(join(root, '.drover.toml'), '[gate]\ncommand = "check"\n');
  });
  teardown(() => removeFolder(root));

  const readings = {
    refresh: (live: LiveSettings) => live.refresh(),
    refreshBounds: (live: LiveSettings) => live.refreshBounds(),
  };
  for (const [name, read] of Object.entries(readings)) {
    test(`the gate of a run that starts during "${name}" stays in effect`, async () => {
      const environment = { HOME: root };
      const live = await LiveSettings.load(root, environment, {}, 'accepted');
      assert.equal(live.settings.gate.command, null);
      const offer = await live.offer(environment, {});
      const reading = read(live);
      const accepted = live.use(offer);
      await Promise.all([reading, accepted, read(live)]);
      assert.equal(live.settings.gate.command, 'check');
      assert.deepEqual(live.held, []);
      await read(live);
      assert.equal(live.settings.gate.command, 'check');
    });
  }

  test('offered settings have no effect yet', async () => {
    const environment = { HOME: root };
    const live = await LiveSettings.load(root, environment, {}, 'accepted');
    assert.equal((await live.offer(environment, {})).settings.gate.command, 'check');
    assert.equal(live.settings.gate.command, null);
    assert.equal(live.accepted.gate.command, null);
  });

  test('a change after the offer is not accepted with it', async () => {
    const environment = { HOME: root };
    const live = await LiveSettings.load(root, environment, {}, 'accepted');
    const offer = await live.offer(environment, {});
    await writeFile(join(root, '.drover.toml'), '[gate]\ncommand = "other"\n');
    await live.use(offer);
    assert.equal(live.accepted.gate.command, 'check');
    assert.equal(live.settings.gate.command, 'check');
    await live.refresh();
    assert.equal(live.settings.gate.command, 'check');
  });
});
