// Tokens of agents: one for each part of an attempt, known again in the next life of the backend, and gone with the agent.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentToolTokens } from '../../../server/main/agent-tools.ts';

const scope = { taskId: 'T-1', part: 'T-1', attempt: 2, epoch: 5, runId: 'run-1' };

suite('tokens of agents', () => {
  let folder: string;
  let log: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-tokens-'));
    log = join(folder, 'T-1', '2.ndjson');
  });
  teardown(() => rmSync(folder, { recursive: true, force: true }));

  test('the token is in a private file and in the environment, never in an argument', async () => {
    const { tools, token } = await new AgentToolTokens('/project').open(scope, log);
    assert.match(token, /^[0-9a-f]{64}$/);
    assert.equal(tools.configPath, `${log}.mcp.json`);
    assert.equal(statSync(tools.configPath).mode & 0o777, 0o600);
    assert.deepEqual(JSON.parse(readFileSync(tools.configPath, 'utf8')), {
      mcpServers: {
        drover: {
          type: 'stdio',
          command: tools.command,
          args: tools.args,
          env: tools.env,
          tools: ['*'],
        },
      },
    });
    assert.deepEqual(tools.env, {
      DROVER_MCP_ROOT: '/project',
      DROVER_MCP_TOKEN: token,
      DROVER_RUN: 'T-1/2/T-1',
    });
    assert.ok(!tools.args.join(' ').includes(token));
    assert.equal(tools.args.at(-1), 'mcp');
  });

  test('each part has its own; the same part has the same, also in another life', async () => {
    const tokens = new AgentToolTokens('/project');
    const first = await tokens.open(scope, log);
    const again = await tokens.open(scope, log);
    const other = await tokens.open({ ...scope, part: 'T-1.1' }, join(folder, 'T-1', '2.x.ndjson'));
    assert.equal(again.token, first.token);
    assert.notEqual(other.token, first.token);
    const nextLife = new AgentToolTokens('/project');
    assert.equal(nextLife.partOf(first.token), null);
    assert.equal((await nextLife.open({ ...scope, epoch: 6 }, log)).token, first.token);
    assert.equal(nextLife.partOf(first.token)?.scope.epoch, 6);
  });

  test('with the end of the agent token and file are gone', async () => {
    const tokens = new AgentToolTokens('/project');
    const { tools, token } = await tokens.open(scope, log);
    assert.equal(tokens.partOf(token)?.scope.part, 'T-1');
    assert.equal(tokens.partOf(''), null);
    await tokens.close(log);
    await tokens.close(log);
    assert.deepEqual([tokens.partOf(token), existsSync(tools.configPath)], [null, false]);
  });

  for (const text of ['', '{', '{"mcpServers":{"drover":{"env":{"DROVER_MCP_TOKEN":"short"}}}}']) {
    test(`a file with ${text === '' ? 'nothing' : text.slice(0, 12)} in it is written anew`, async () => {
      const tokens = new AgentToolTokens('/project');
      const { token, tools } = await tokens.open(scope, log);
      writeFileSync(tools.configPath, text);
      const fresh = await new AgentToolTokens('/project').open(scope, log);
      assert.notEqual(fresh.token, token);
      assert.ok(readFileSync(tools.configPath, 'utf8').includes(fresh.token));
    });
  }
});
