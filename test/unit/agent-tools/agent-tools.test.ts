// Tokens of agents: each part of an attempt has one; it stays valid when the backend restarts, and
// ends with the agent.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentTools } from '../../../server/agents/port.ts';
import { AgentToolTokens } from '../../../server/agent-tools/agent-tools.ts';
import type { AgentScope } from '../../../server/workflows/kit/engine-ports.ts';
import { removeFolder } from '../../remove-folder.ts';

const scope = { taskId: 'T-1', part: 'T-1', attempt: 2, epoch: 5, runId: 'run-1' };

function tokensOf(): AgentToolTokens {
  return new AgentToolTokens('/project', null, () => true);
}

async function open(
  tokens: AgentToolTokens,
  log: string,
  changed: Partial<AgentScope> = {},
): Promise<{ readonly tools: AgentTools; readonly token: string }> {
  const opened = await tokens.open({ ...scope, ...changed }, log, 'p/T-1/2/T-1');
  return opened ?? assert.fail('no tools');
}

suite('tokens of agents', () => {
  let folder: string;
  let log: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-tokens-'));
    log = join(folder, 'T-1', '2.ndjson');
  });
  teardown(() => removeFolder(folder));

  test('the token is in a private file and in the environment, never in an argument', async () => {
    const { tools, token } = await open(tokensOf(), log);
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
      DROVER_RUN: 'p/T-1/2/T-1',
    });
    assert.ok(!tools.args.join(' ').includes(token));
    assert.match(tools.args.at(-1) ?? '', /\/mcp-main\.ts$/);
  });

  test('each part has its own token, and the same part keeps its token across executions', async () => {
    const tokens = tokensOf();
    const first = await open(tokens, log);
    const again = await open(tokens, log);
    const other = await open(tokens, join(folder, 'T-1', '2.x.ndjson'), { part: 'T-1.1' });
    assert.equal(again.token, first.token);
    assert.notEqual(other.token, first.token);
    const nextLife = tokensOf();
    assert.equal(nextLife.partOf(first.token), null);
    assert.equal((await open(nextLife, log, { epoch: 6 })).token, first.token);
    assert.equal(nextLife.partOf(first.token)?.scope.epoch, 6);
  });

  test('when the agent ends, its token and file are removed', async () => {
    const tokens = tokensOf();
    const { tools, token } = await open(tokens, log);
    assert.equal(tokens.partOf(token)?.scope.part, 'T-1');
    assert.equal(tokens.partOf(''), null);
    await tokens.close(log);
    await tokens.close(log);
    assert.deepEqual([tokens.partOf(token), existsSync(tools.configPath)], [null, false]);
  });

  test('without such settings, there is neither a token nor a file', async () => {
    const tokens = new AgentToolTokens('/project', null, () => false);
    assert.equal(await tokens.open(scope, log, 'p/T-1/2/T-1'), null);
    await tokens.close(log);
    assert.equal(existsSync(join(folder, 'T-1')), false);
  });

  for (const text of ['', '{', '{"mcpServers":{"drover":{"env":{"DROVER_MCP_TOKEN":"short"}}}}']) {
    test(`a file with ${text === '' ? 'nothing' : text.slice(0, 12)} in it is written again`, async () => {
      const tokens = tokensOf();
      const { token, tools } = await open(tokens, log);
      writeFileSync(tools.configPath, text);
      const fresh = await open(tokensOf(), log);
      assert.notEqual(fresh.token, token);
      assert.ok(readFileSync(tools.configPath, 'utf8').includes(fresh.token));
    });
  }
});
