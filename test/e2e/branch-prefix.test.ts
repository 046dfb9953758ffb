// A git server with a rule for branch names, and the setting that gives Drover's branches valid
// names.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

suite("a server's rule for branch names", function () {
  this.timeout(120_000);
  const makeOne = useProjects();
  let server: PostgresServer;
  let count = 0;
  suiteSetup(async () => {
    server = await startPostgres();
  });
  suiteTeardown(() => server.close());

  async function withRule(settings: string): Promise<Project> {
    const url = await server.createDatabase(`rule_${(count += 1)}`);
    const here = makeOne({ settings, env: { DBOS_SYSTEM_DATABASE_URL: url } });
    writeFileSync(
      join(here.folder, 'remote.git', 'hooks', 'update'),
      '#!/bin/sh\ncase "$1" in refs/drover/*|refs/heads/main|refs/heads/feature/*) ;; *) echo "feature/* only" >&2; exit 1;; esac\n',
      { mode: 0o755 },
    );
    return here;
  }
  const branchesThere = (here: Project): readonly string[] =>
    here
      .gitIn(
        join(here.folder, 'remote.git'),
        'for-each-ref',
        '--format=%(refname:short)',
        'refs/heads',
      )
      .trim()
      .split('\n');

  test('doctor names the setting, and an epic lands with it', async () => {
    const without = await withRule('# defaults\n');
    await without.expect(0, ['init']);
    const said = await without.drover(['doctor']);
    assert.match(said.stdout, /fleet remote.*feature\/\* only.*\[fleet\] branch_prefix/s);

    const here = await withRule('[fleet]\nbranch_prefix = "feature/drover-"\n');
    await here.expect(0, ['init']);
    const unaccepted = await here.drover(['doctor']);
    assert.match(unaccepted.stdout, /fleet remote.*not accepted yet.*"drover trust"/);
    await here.expect(0, ['trust', '--yes']);
    assert.match(
      (await here.drover(['doctor'])).stdout,
      /fleet remote.*can be read, and takes pushes/s,
    );
    const { id: epic } = await here.json<{ id: string }>(['epic', 'add', 'All of it']);
    const first = await here.add('first', '--epic', epic);
    const second = await here.add('second', '--epic', epic, '--blocked-by', first);
    await here.expect(2, ['run', '--epic', epic, '--land', 'review']);
    assert.deepEqual(branchesThere(here), [`feature/drover-epic/${epic}`, 'main']);
    await here.expect(0, ['approve', epic]);
    await here.expect(0, ['run', '--epic', epic, '--land', 'review']);
    for (const id of [first, second]) here.git('cat-file', '-e', `origin/main:${id}.txt`);
    // An epic's line stays, but the branches of its attempts do not.
    assert.deepEqual(branchesThere(here), [`feature/drover-epic/${epic}`, 'main']);
  });
});
