// A clone whose settings no user has accepted: programs and hosts that only it names are not used,
// and events that they missed are sent once a person has accepted them.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startWebReceiver, type WebReceiver } from '../doubles/web-receiver.ts';
import { eventually } from './support/eventually.ts';
import { receivedSpans } from './support/spans.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

const hook = `#!/bin/sh
echo "$1" >> "$HOME/hook.log"
exit 1
`;

suite('settings that no user has accepted', function () {
  this.timeout(120_000);
  const project = useProjects({ isEachProcess: true });
  let receiver: WebReceiver;

  setup(async () => {
    receiver = await startWebReceiver();
  });

  teardown(() => receiver.close());

  const refused = async (here: Project, ...args: readonly string[]): Promise<void> => {
    const done = await here.drover([...args, '--json']);
    assert.equal(done.code, 3, `${args.join(' ')}\n${done.stdout}${done.stderr}`);
    const { error } = JSON.parse(done.stdout) as { error: { kind: string; message: string } };
    assert.equal(error.kind, 'unaccepted');
    assert.match(error.message, /is not accepted yet|are not accepted yet/);
    assert.match(error.message, /"drover trust"\.$/);
  };

  test('until then, no command starts the script that creates workers', async () => {
    const here = project({
      files: { 'hook.sh': hook },
      settings: '[remote]\nprovisioner = "hook"\nhook = "hook.sh"\n',
    });
    here.sh(here.root, 'chmod +x hook.sh');
    await here.expect(0, ['init']);
    const task = await here.add('A task');
    const started = (): boolean => existsSync(join(here.folder, 'home', 'hook.log'));
    for (const command of ['list', 'test', 'destroy x']) {
      await refused(here, 'remote', ...command.split(' '));
    }
    await here.drover(['doctor']);
    await here.drover(['hint', task, 'be quick']);
    assert.notEqual(here.backendPid(), null);
    await here.drover(['status']);
    assert.equal(started(), false);
    await here.expect(0, ['trust', '--yes']);
    await here.drover(['remote', 'list']);
    assert.equal(started(), true);
  });

  test('until then, a planning program that only the project names is not started', async () => {
    const here = project({
      files: { 'claude.sh': hook, 'design.md': 'Build it.\n' },
      settings: '[agent]\nkind = "claude"\npath = "./claude.sh"\n',
      env: { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '' },
    });
    here.sh(here.root, 'chmod +x claude.sh');
    await here.expect(0, ['init']);
    await refused(here, 'spec', 'design.md', '--yes');
    assert.equal(existsSync(join(here.folder, 'home', 'hook.log')), false);
  });

  test('webhooks and traces wait until then, and lose nothing', async () => {
    const here = project({
      settings: `[webhooks]
allow_private = true
[webhooks.endpoints.chat]
url = "${receiver.url}/hook"
[telemetry]
enabled = true
endpoint = "${receiver.url}"
`,
    });
    await here.expect(0, ['init']);
    const first = await here.add('First');
    // Starts the backend.
    await here.drover(['hint', first, 'be quick']);
    assert.notEqual(here.backendPid(), null);
    const second = await here.add('Second');
    await here.expect(0, ['status']);
    await refused(here, 'webhooks', 'test');
    await here.expect(0, ['webhooks', 'list']);
    await here.expect(0, ['webhooks', 'retry']);
    assert.deepEqual(receiver.received, []);
    const posts = (): readonly { event: string; data: { task?: { task_id: string } } }[] =>
      receiver.received
        .filter(({ path }) => path === '/hook')
        .map(({ body }) => JSON.parse(body) as never);
    await here.expect(0, ['trust', '--yes']);
    await eventually('what was added since the backend started is sent', () => posts().length > 0);
    assert.deepEqual(
      posts().map(({ event, data }) => [event, data.task?.task_id]),
      [['task.created', second]],
    );
    await here.expect(0, ['run', '--gate', 'true']);
    await eventually('the traces are sent', () =>
      receivedSpans(receiver.received).some(({ name }) => name === 'drover.workflow.run'),
    );
  });
});
