// Agents that are missing, are installed later, or cannot start.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeAgent, writesOneFile } from './support/agent-scripts.ts';
import { panelClient } from './support/panel-client.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

suite('agents that cannot start', () => {
  const project = useProjects();

  test('an agent that is installed after the backend started is found by the next run, and works', async () => {
    const here = project();
    const late = join(here.folder, 'late');
    mkdirSync(late);
    const env = { DROVER_AGENT_PATH: 'late-agent' };
    await here.expect(0, ['init']);
    const id = await here.add('One');
    const refused = await here.drover(['run'], { env });
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /"late-agent" was not found/);
    const backend = here.backendPid();
    assert.notEqual(backend, null, 'the backend that did not find it is running');
    writeAgent(late, writesOneFile, 'its-helper');
    writeAgent(late, 'its-helper', 'late-agent');
    const PATH = `${late}:${here.env['PATH'] ?? ''}`;
    await here.expect(0, ['run'], { env: { ...env, PATH } });
    assert.equal(here.backendPid(), backend, 'the same backend has run it');
    assert.match(here.git('show', `main:${id}.txt`), /work of/);
  });

  for (const [words, body, outcome, says] of [
    ['fails', 'echo "bad option" >&2; exit 9', 'error', /exit code 9 and printed “bad option”/],
    ['prints nothing', ':', 'warning', /It printed nothing/],
  ] as const) {
    test(`the checks before a run report an agent that ${words} when asked for its version`, async () => {
      const here = project({ env: { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '' } });
      const bin = join(here.folder, 'bin');
      mkdirSync(bin);
      for (const name of ['claude', 'gemini'])
        writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
      await beginPlan(here, ['a']);
      const client = await panelClient(here);
      try {
        for (const agent of ['claude', 'gemini'] as const) {
          const env = { ...here.env, PATH: `${bin}:${here.env['PATH'] ?? ''}` };
          const { checks } = await client.call('preflight', { agent, env });
          const found = checks.find(({ name }) => name === 'agent');
          assert.equal(found?.outcome, outcome, agent);
          assert.match(found?.message ?? '', /bin\/(claude|gemini) does not report its version\.$/);
          assert.match(found?.remedy ?? '', says);
          assert.deepEqual(found?.agent, { kind: agent, problem: 'broken' });
        }
      } finally {
        client.close();
      }
    });
  }

  test('the checks before a run name a missing agent in a short sentence, with its remedy separate', async () => {
    const here = project({ env: { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '' } });
    await beginPlan(here, ['a']);
    const client = await panelClient(here);
    try {
      const { checks } = await client.call('preflight', { agent: 'claude' });
      const found = checks.find(({ name }) => name === 'agent');
      assert.deepEqual(found?.agent, { kind: 'claude', problem: 'missing' });
      assert.equal(found?.message, 'Claude Code ("claude") was not found or cannot be executed.');
      assert.match(found?.remedy ?? '', /^Install it \(npm install -g/);
    } finally {
      client.close();
    }
  });
});

const cannotStart: readonly {
  readonly words: string;
  readonly body: string;
  readonly says: RegExp;
}[] = [
  {
    words: 'that ends with exit code 127',
    body: '#!/bin/sh\necho "node: not found" >&2\nexit 127\n',
    says: /node: not found/,
  },
  {
    words: 'whose interpreter is missing',
    body: '#!/no/such/interpreter\n',
    says: /could not be started/,
  },
  {
    words: 'that cannot execute its own program',
    body: '#!/bin/sh\ntouch denied\nexec ./denied\n',
    says: /denied/,
  },
];

suite('a run whose agent cannot start', () => {
  const project = useProjects();

  for (const { words, body, says } of cannotStart) {
    test(`an agent ${words} ends the run at the first try without using an attempt`, async () => {
      const here = project();
      const path = join(here.folder, 'broken-agent');
      writeFileSync(path, body, { mode: 0o755 });
      const env = { DROVER_AGENT_PATH: path };
      await here.expect(0, ['init']);
      const ids = [await here.add('One'), await here.add('Two'), await here.add('Three')];
      const ended = await here.drover(['run', '--workers', '1'], { env });
      const output = `${ended.stdout}\n${ended.stderr}`;
      assert.equal(ended.code, 2, output);
      assert.match(output, says);
      assert.match(output, /Correct this, then run "drover run"/);
      const claimed = (await here.events()).filter(({ type }) => type === 'task.claimed');
      assert.equal(claimed.length, 1, 'the agent was started once');
      for (const id of ids) {
        const { status, attempts } = await here.task(id);
        assert.deepEqual([status, attempts], ['ready', 0]);
      }
      assert.match(await here.expect(0, ['why', ids[0] ?? '']), says);
      writeFileSync(path, readFileSync(writeAgent(here.folder, writesOneFile, 'good')));
      await here.expect(0, ['run'], { env });
      for (const id of ids) assert.equal((await here.task(id)).status, 'completed');
    });
  }

  soakTest(
    "only the agent's own tasks wait while another agent works, and a fallback agent takes over",
    async () => {
      const here = project();
      const path = join(here.folder, 'broken-agent');
      writeFileSync(path, '#!/bin/sh\nexit 126\n', { mode: 0o755 });
      await here.expect(0, ['init']);
      const broken = await here.add('Broken', '--priority', '3');
      const alike = await here.add('Alike', '--priority', '3');
      const other = await here.add('Other', '--agent', 'demo', '--priority', '1');
      const passedOn = await here.add('Passed on', '--fallback', 'demo', '--priority', '1');
      const env = { DROVER_AGENT_PATH: path };
      await here.expect(2, ['run', '--workers', '1'], { env });
      for (const id of [broken, alike]) assert.equal((await here.task(id)).status, 'ready');
      for (const id of [other, passedOn]) {
        const { status, attempts } = await here.task(id);
        assert.deepEqual([status, attempts], ['completed', 0]);
      }
      const claims = (await here.events()).filter(({ type }) => type === 'task.claimed');
      assert.deepEqual(
        claims.map(({ data }) => data['agent']),
        ['command', 'demo', 'demo'],
      );
    },
  );
});
