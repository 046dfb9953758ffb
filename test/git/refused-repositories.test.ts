// Repositories that git itself refuses: the reason is reported with a remedy.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFixture, valueOf, type Fixture } from './fixture.ts';

suite('git: repositories that git refuses', () => {
  let fixture: Fixture;
  setup(() => {
    fixture = makeFixture();
  });
  teardown(() => fixture.remove());

  for (const [what, config, sentence] of [
    [
      'core.bare',
      '[core]\n\tbare = true\n',
      /has core\.bare = true.*agent.*"git config --unset core\.bare" in .*pro ject/,
    ],
    [
      'an unknown extension',
      '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfoo = true\n',
      /unknown repository extension found: foo\. Install a newer git/,
    ],
    [
      'reftable, which this git does not know',
      '[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefstorage = unknown-table\n',
      /refstorage.*Install a newer git/is,
    ],
    [
      'a later version',
      '[core]\n\trepositoryformatversion = 7\n',
      /Expected git repo version <= 1, found 7\. Install a newer git/,
    ],
    [
      'a bad line',
      '[broken\n',
      /bad config line \d+ in file .*\.git\/config\. Correct that line of .*config\.$/,
    ],
    [
      'a bad value',
      '[core]\n\tbare = maybe\n',
      /bad boolean config value 'maybe' for 'core\.bare'/,
    ],
  ] as const) {
    test(`${what} in the configuration is refused with git's message and the remedy`, async () => {
      appendFileSync(join(fixture.root, '.git', 'config'), config);
      const refused = await fixture.adapter().open(fixture.root);
      const message = refused.ok ? '' : refused.error.message;
      assert.match(message, sentence);
      assert.doesNotMatch(message, /git init/);
    });
  }

  test('the command in the refusal of core.bare makes the repository usable again', async () => {
    fixture.git('config', 'core.bare', 'true');
    const refused = await fixture.adapter().open(fixture.root);
    const command = /"(git config[^"]*)"/.exec(refused.ok ? '' : refused.error.message)?.[1] ?? '';
    execFileSync('sh', ['-c', command], { cwd: fixture.root, env: fixture.environment });
    valueOf(await fixture.adapter().open(fixture.root));
  });

  test('an incomplete or relocated git folder is not advised to be created again', async () => {
    const broken = join(fixture.home, 'broken');
    fixture.gitIn(fixture.home, 'init', '-q', 'broken');
    rmSync(join(broken, '.git', 'HEAD'));
    const linked = join(fixture.home, 'linked');
    mkdirSync(linked);
    writeFileSync(join(linked, '.git'), 'gitdir: /nowhere/at all\n');
    for (const [path, sentence] of [
      [broken, /does not accept .*broken\/\.git as a repository/],
      [linked, /not a git repository: \/nowhere\/at all/],
    ] as const) {
      const refused = await fixture.adapter().open(path);
      const message = refused.ok ? '' : refused.error.message;
      assert.match(message, sentence);
      assert.doesNotMatch(message, /git init/);
    }
  });
});
