// A setup's installation is copied into other slots and gate folders, if it is relocatable.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { makeFixture, startTask, valueOf, type Fixture } from './fixture.ts';
import type { SetupLook, SetupRequest } from '../../server/git/slot-port.ts';

suite('git: sealed setups', () => {
  let fixture: Fixture;
  let repository: GitRepository;
  let slots: readonly [string, string];
  setup(async () => {
    fixture = makeFixture();
    fixture.write(join(fixture.root, '.gitignore'), 'node_modules\n*.local\npackage-lock.json\n');
    fixture.write(join(fixture.root, 'package.json'), '{}\n');
    fixture.git('add', '-A');
    fixture.git('commit', '-qm', 'a package');
    repository = await fixture.open();
    const one = await startTask(fixture, repository, 's0', 't1');
    const two = await startTask(fixture, repository, 's1', 't2');
    slots = [one.path, two.path];
  });
  teardown(() => fixture.remove());

  const states = (): string[] =>
    readdirSync(join(fixture.slots, '.drover-setups')).filter((name) => !name.includes('.'));
  const request = (path: string, change: Partial<SetupRequest> = {}): SetupRequest => ({
    path,
    command: 'install',
    inputs: [],
    leave: [],
    only: false,
    seal: 'base',
    ...change,
  });
  const look = async (path: string, change: Partial<SetupRequest> = {}): Promise<SetupLook> =>
    valueOf(await repository.lookAtSetup(request(path, change)));
  const setUp = async (path: string, change: Partial<SetupRequest> = {}): Promise<void> => {
    const seen = await look(path, change);
    assert.equal(seen.stands, false);
    fixture.write(join(path, 'node_modules/left/index.js'), `of ${change.command}\n`);
    fixture.write(join(path, 'packages/a/node_modules/b.js'), 'b\n');
    fixture.write(join(path, 'package-lock.json'), '{}\n');
    symlinkSync('../left/index.js', join(path, 'packages/a/node_modules/link'));
    valueOf(await repository.keepSetup(request(path, change), seen));
  };

  test('a state is installed once and copied, and nothing of an earlier state remains beside it', async () => {
    await setUp(slots[0]);
    fixture.write(join(slots[1], 'node_modules/of-another/index.js'), 'x\n');
    assert.equal((await look(slots[1])).stands, true);
    assert.deepEqual(readdirSync(join(slots[1], 'node_modules')), ['left']);
    assert.equal(existsSync(join(slots[1], 'package-lock.json')), true);
    assert.equal(readlinkSync(join(slots[1], 'packages/a/node_modules/link')), '../left/index.js');
    fixture.write(join(slots[1], 'node_modules/left/index.js'), 'of an agent\n');
    assert.equal((await look(slots[1], { only: true, seal: 'use' })).stands, true);
    const again = readFileSync(join(slots[1], 'node_modules/left/index.js'), 'utf8');
    assert.equal(again, 'of undefined\n');
  });

  const unmovable: readonly (readonly [string, (path: string) => void])[] = [
    [
      'a file that names its folder',
      (path) => fixture.write(join(path, 'node_modules/.bin/run'), `#!${path}/node_modules/x\n`),
    ],
    [
      'a link out of the folder',
      (path) => symlinkSync('../../elsewhere', join(path, 'node_modules/out')),
    ],
    [
      'something besides node_modules',
      (path) => fixture.write(join(path, 'port.local'), 'PORT=20010\n'),
    ],
  ];
  for (const [what, make] of unmovable) {
    test(`${what} is set up in each slot`, async () => {
      const seen = await look(slots[0]);
      fixture.write(join(slots[0], 'node_modules/left/index.js'), 'x\n');
      make(slots[0]);
      valueOf(await repository.keepSetup(request(slots[0]), seen));
      assert.equal((await look(slots[0])).stands, true);
      assert.equal((await look(slots[1])).stands, false);
    });
  }

  test("a gate's installation for a candidate is copied only after the candidate has landed", async () => {
    fixture.write(join(slots[0], 'package.json'), '{"raised":true}\n');
    fixture.gitIn(slots[0], 'commit', '-qam', 'raised');
    const candidate = fixture.gitIn(slots[0], 'rev-parse', 'HEAD');
    fixture.gitIn(slots[0], 'switch', '-q', '--detach');
    const gate = { only: true, seal: 'use' } as const;
    const seen = await look(slots[0], gate);
    assert.equal(seen.stands, false);
    fixture.write(join(slots[0], 'node_modules/left/index.js'), 'raised\n');
    valueOf(await repository.keepSetup(request(slots[0], gate), seen));
    fixture.write(join(slots[1], 'package.json'), '{"raised":true}\n');
    fixture.gitIn(slots[1], 'commit', '-qam', 'raised by another');
    assert.equal((await look(slots[1])).stands, false, 'the same manifest, another commit');
    fixture.gitIn(slots[1], 'reset', '-q', '--hard', candidate);
    assert.equal((await look(slots[1])).stands, true);
    const copy = readFileSync(join(slots[1], 'node_modules/left/index.js'), 'utf8');
    assert.equal(copy, 'raised\n');
  });

  test('a slot with work in it seals nothing, and a changed copy is not used', async () => {
    fixture.write(join(slots[0], 'postinstall.js'), 'of an agent\n');
    await setUp(slots[0]);
    assert.equal((await look(slots[1])).stands, false);
    await setUp(slots[1], { command: 'other' });
    const [state = ''] = states();
    const sealed = join(fixture.slots, '.drover-setups', state, 'node_modules/left/index.js');
    assert.equal(existsSync(sealed), true);
    fixture.write(sealed, 'changed later\n');
    assert.equal((await look(slots[0], { command: 'other' })).stands, false);
  });

  test('leftovers of earlier attempts in node_modules are not part of a new state, and three states are kept', async () => {
    for (const command of ['1', '2', '3', '4']) {
      fixture.write(join(slots[0], 'node_modules/left-over.js'), 'of an agent\n');
      await setUp(slots[0], { command }).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      });
      assert.equal(existsSync(join(slots[0], 'node_modules/left-over.js')), false);
    }
    assert.equal(states().length, 3);
  });
});
