// Each rule of a machine's policy refuses and names its file, and no user setting loosens it.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { StatusSnapshot } from '../../server/protocol/api.ts';
import { removeFolder } from '../remove-folder.ts';
import { beginPlan } from './support/plan.ts';
import type { Project, ProjectOptions } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

const me = userInfo().username;

suite("a machine's policy", function () {
  this.timeout(120_000);
  const project = useProjects();
  const folder = mkdtempSync(join(tmpdir(), 'drover-policy-'));
  const file = join(folder, 'policy.toml');
  suiteTeardown(() => removeFolder(folder));

  const rule = (text: string): void => writeFileSync(file, `[policy]\n${text}\n`);
  const governed = (options: ProjectOptions = {}): Project =>
    project({ ...options, env: { ...options.env, DROVER_POLICY: file } });

  /** Refused with the sentence, which names the file. */
  const refuses = async (
    here: Project,
    args: readonly string[],
    sentence: RegExp,
    kind = 'policy',
  ): Promise<void> => {
    const { code, stdout } = await here.drover([...args, '--json']);
    assert.equal(code, 3, stdout);
    const lines = stdout.trim().split('\n');
    const { error } = JSON.parse(lines.at(-1) ?? '') as {
      error: { kind: string; message: string };
    };
    assert.equal(error.kind, kind);
    assert.match(error.message, sentence);
    assert.ok(error.message.includes(file), error.message);
  };

  test('approve: only the users that it names may approve', async () => {
    rule('approve = ["somebody-else"]');
    const here = governed();
    await here.expect(0, ['init']);
    const epic = JSON.parse(await here.expect(0, ['epic', 'add', 'E', '--json'])) as { id: string };
    await here.add('One', '-e', epic.id);
    await here.expect(2, ['run', '-e', epic.id, '--land', 'review']);
    await refuses(
      here,
      ['approve', epic.id],
      /may not approve work .* allows it to somebody-else/u,
    );
    rule(`approve = ["${me}"]`);
    await here.expect(0, ['approve', epic.id]);
    await here.epicLanded();
  });

  test('land: a run that lands without a review is refused, whatever the settings say', async () => {
    rule('land = ["somebody-else"]');
    const here = governed({ settings: '[land]\nmode = "task"\n' });
    await beginPlan(here, ['one']);
    await refuses(here, ['run'], /may not land work without a review .* --land review/u);
    await refuses(here, ['run', '--land', 'task'], /may not land work/u);
    assert.equal((await here.task('one')).attempts, 0);
    rule(`land = ["${me}"]`);
    await here.expect(0, ['run']);
    rule('land = []');
    await refuses(here, ['undo', 'one'], /allows it to nobody/u);
  });

  test('trust: neither "trust" nor a run accepts settings', async () => {
    rule('trust = []');
    const here = governed({ settings: '[gate]\ncommand = "true"\n' });
    await beginPlan(here, ['one']);
    await refuses(here, ['trust', '--yes'], /may not accept settings of a repository/u);
    await refuses(here, ['run'], /may not accept settings of a repository/u);
    assert.equal((await here.task('one')).attempts, 0);
  });

  test('agents: another agent kind does not start', async () => {
    rule('agents = ["claude"]');
    const here = governed({ settings: 'agent = "command"\n' });
    await beginPlan(here, ['one']);
    await refuses(here, ['run'], /agent command is not used on this machine/u, 'agent_missing');
  });

  test('sandbox_required: no file, variable or flag turns it off', async () => {
    rule('sandbox_required = true');
    const here = governed({
      settings: '[sandbox]\nrequired = false\n',
      env: { DROVER_SANDBOX: 'off' },
    });
    await beginPlan(here, ['one']);
    const status = await here.drover(['status', '--json']);
    const { config } = JSON.parse(status.stdout) as StatusSnapshot;
    assert.deepEqual(config['sandbox.required'], { value: true, source: 'policy' });
    const { code, stderr } = await here.drover(['run']);
    assert.equal(code, 3);
    assert.match(stderr, /\[sandbox\] required = true/u);
  });

  test('an unreadable policy refuses everything that it governs, and doctor names it', async () => {
    rule('aprove = ["me"]');
    const here = governed();
    await beginPlan(here, ['one']);
    await refuses(here, ['run'], /unknown rule `aprove`/u);
    await refuses(here, ['trust', '--yes'], /unknown rule `aprove`/u);
    const { stdout } = await here.drover(['doctor', '--json']);
    const { checks } = JSON.parse(stdout) as { checks: readonly { name: string; ok: boolean }[] };
    assert.equal(checks.find(({ name }) => name === 'policy')?.ok, false);
  });
});
