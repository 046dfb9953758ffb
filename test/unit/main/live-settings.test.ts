// What a person's run is to use is not taken back by a reading of the files that began before it.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LiveSettings } from '../../../server/main/project/live-settings.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('live settings', () => {
  let root = '';
  setup(async () => {
    root = await mkdtemp(join(tmpdir(), 'drover-live-'));
    // What a person has accepted is kept in git's folder.
    await mkdir(join(root, '.git'));
    await writeFile(join(root, '.drover.toml'), '[gate]\ncommand = "check"\n');
  });
  teardown(() => removeFolder(root));

  const readings = {
    refresh: (live: LiveSettings) => live.refresh(),
    refreshBounds: (live: LiveSettings) => live.refreshBounds(),
  };
  for (const [name, read] of Object.entries(readings)) {
    test(`the gate of a run that starts during "${name}" stays in force`, async () => {
      const environment = { HOME: root };
      const live = await LiveSettings.load(root, environment, {}, 'accepted');
      assert.equal(live.settings.gate.command, null);
      const offer = await live.offer(environment, {});
      const reading = read(live);
      const accepted = live.take(offer).accept();
      await Promise.all([reading, accepted, read(live)]);
      assert.equal(live.settings.gate.command, 'check');
      assert.deepEqual(live.held, []);
      await read(live);
      assert.equal(live.settings.gate.command, 'check');
    });
  }

  test('a start that is refused takes nothing from one that was accepted meanwhile', async () => {
    const environment = { HOME: root };
    const live = await LiveSettings.load(root, environment, {}, 'accepted');
    const refused = live.take(await live.offer(environment, {}));
    const other = live.take(await live.offer(environment, {}));
    await other.accept();
    refused.putBack();
    assert.equal(live.settings.gate.command, 'check');
    assert.deepEqual(live.held, []);
  });

  test('when all starts are refused, what was in force before is again', async () => {
    const environment = { HOME: root };
    const live = await LiveSettings.load(root, environment, {}, 'accepted');
    const starts = [await live.offer(environment, {}), await live.offer(environment, {})];
    for (const start of starts.map((offer) => live.take(offer))) start.putBack();
    assert.equal(live.settings.gate.command, null);
  });

  test('what another start offers is not accepted with the first', async () => {
    const environment = { HOME: root };
    const live = await LiveSettings.load(root, environment, {}, 'accepted');
    const first = live.take(await live.offer(environment, {}));
    await writeFile(join(root, '.drover.toml'), '[gate]\ncommand = "other"\n');
    const accepting = first.accept();
    const second = live.take(await live.offer(environment, {}));
    await accepting;
    assert.equal(live.accepted.gate.command, 'check');
    second.putBack();
    assert.equal(live.settings.gate.command, 'check');
  });

  test('a start that joins another run after it was accepted leaves that run its settings', async () => {
    const environment = { HOME: root };
    const live = await LiveSettings.load(root, environment, {}, 'accepted');
    const first = live.take(await live.offer(environment, {}));
    await writeFile(join(root, '.drover.toml'), '[gate]\ncommand = "other"\n');
    const second = live.take(await live.offer(environment, {}));
    await first.accept();
    await second.accept();
    assert.equal(live.settings.gate.command, 'other');
    second.reopen();
    second.putBack();
    assert.equal(live.settings.gate.command, 'check');
  });

  test('one that was accepted, joins a run that has ended and starts anew has its settings', async () => {
    const environment = { HOME: root };
    const live = await LiveSettings.load(root, environment, {}, 'accepted');
    const start = live.take(await live.offer(environment, {}));
    await start.accept();
    start.reopen();
    await start.accept();
    start.putBack();
    assert.equal(live.settings.gate.command, 'check');
    assert.deepEqual(live.held, []);
  });
});
