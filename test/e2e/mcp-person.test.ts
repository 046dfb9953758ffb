// `drover mcp` with the SDK's own client over real standard input and output, in a repository where
// Drover is not set up yet.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { droverProgram } from './support/program.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

const agentProgram = resolve(import.meta.dirname, 'support', 'mcp-agent.ts');

interface Status {
  readonly run: { readonly active: boolean } | null;
  readonly tasks: readonly {
    readonly id: string;
    readonly title: string;
    readonly status: string;
  }[];
  readonly questions: readonly { readonly id: string; readonly choices: readonly string[] }[];
}

interface Tools {
  call(name: string, given?: object): Promise<{ readonly text: string; readonly isError: boolean }>;
  json<T>(name: string, given?: object): Promise<T>;
  names(): Promise<readonly string[]>;
}

suite('e2e: drover mcp', function () {
  this.timeout(120_000);
  // This must come before the projects, whose end requires that none of their processes is left.
  const clients: Client[] = [];
  teardown(async () => {
    for (const client of clients.splice(0)) await client.close();
  });
  const project = useProjects();

  const serve = async (here: Project): Promise<Tools> => {
    const client = new Client({ name: 'test', version: '1.0.0' });
    clients.push(client);
    const args = ['--no-warnings', droverProgram(), 'mcp'];
    const { env, root: cwd } = here;
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, cwd, env: { ...env } }),
    );
    const call: Tools['call'] = async (name, given = {}) => {
      const result = await client.callTool({ name, arguments: { ...given } });
      const [first] = result.content as { text: string }[];
      return { text: first?.text ?? '', isError: result.isError === true };
    };
    return {
      call,
      json: async (name, given) => {
        const { text, isError } = await call(name, given);
        assert.equal(isError, false, text);
        return JSON.parse(text);
      },
      names: async () => (await client.listTools()).tools.map((tool) => tool.name),
    };
  };

  test('a plan is created, run, inspected and answered without any configuration', async () => {
    const here = project({
      agent: `cat > /dev/null\nexec node --no-warnings '${agentProgram}'`,
    });
    here.git('rm', '-q', '.drover.toml');
    here.git('commit', '-qm', 'no configuration');
    const question = { question: 'Which color?', choices: ['red', 'green'] };
    const asks = { tool: 'ask_person', args: question, until: '"answered"' };
    here.write('script.json', JSON.stringify({ 'Choose a color': [asks] }));
    const drover = await serve(here);
    for (const name of ['add_plan', 'add_task', 'run', 'status', 'why', 'log', 'report', 'answer'])
      assert.ok((await drover.names()).includes(name), name);
    const before = await drover.call('status');
    assert.equal(before.isError, true);
    assert.match(before.text, /drover init/u);

    const { ids } = await drover.json<{ ids: Record<string, string> }>('add_plan', {
      epics: [{ key: 'paint', title: 'Paint it' }],
      tasks: [
        { key: 'color', title: 'Choose a color', epic: 'paint', priority: 'high' },
        { key: 'wall', title: 'Paint the wall', epic: 'paint', blocked_by: ['color'] },
      ],
    });
    const { color = '', wall = '', paint = '' } = ids;
    const why = await drover.json<{ reasons: string[] }>('why', { id: wall });
    assert.ok(why.reasons.join(' ').includes(color));
    const loop = await drover.call('add_plan', {
      tasks: [
        { key: 'a', title: 'A', blocked_by: ['b'] },
        { key: 'b', title: 'B', blocked_by: ['a'] },
      ],
    });
    assert.equal(loop.isError, true);
    assert.match(loop.text, /Nothing was added/u);
    assert.equal((await drover.json<Status>('status')).tasks.length, 2);

    await drover.json('run', { epic: paint });
    const asked = await drover.json<Status>('wait');
    const [open] = asked.questions;
    assert.deepEqual(open?.choices, ['red', 'green']);
    await drover.json('answer', { question: open?.id, choice: 'green' });
    let end = await drover.json<Status>('wait');
    // The answer may still be on its way to the agent.
    while (end.run?.active === true) end = await drover.json<Status>('wait');
    assert.deepEqual(
      end.tasks.map(({ title, status }) => [title, status]),
      [
        ['Choose a color', 'completed'],
        ['Paint the wall', 'completed'],
      ],
    );
    assert.ok(existsSync(join(here.root, `${wall}.txt`)));
    assert.match((await drover.call('log', { id: wall })).text, /did Paint the wall/u);
    assert.match((await drover.call('report', { id: paint })).text, /Paint it/u);
    assert.match((await drover.call('diff', { id: color })).text, /work of/u);
  });

  test('requests that arrived before the end of the input are answered, and the server exits with it', async () => {
    const here = project();
    const say = (id: number, method: string, params: object): string =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
    const clientInfo = { name: 'test', version: '1.0.0' };
    const input =
      say(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }) +
      say(2, 'tools/call', { name: 'add_task', arguments: { title: 'Say hello' } });
    const done = spawnSync(process.execPath, ['--no-warnings', droverProgram(), 'mcp'], {
      cwd: here.root,
      env: { ...here.env },
      input,
      encoding: 'utf8',
      timeout: 60_000,
    });
    assert.equal(done.status, 0, done.stderr);
    const lines = done.stdout.trim().split('\n');
    const last = JSON.parse(lines.at(-1) ?? '') as { id: number };
    assert.deepEqual([lines.length, last.id], [2, 2]);
    assert.match(done.stdout, /task-/u);
    assert.equal((await here.status()).tasks.length, 1);
  });
});
