// An agent of the kind `command` that only uses Drover's tools: it starts the MCP server as its
// variables say, makes the calls that the test's script has for its task's title, records the
// answers, and writes a file as its work.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { setTimeout as delay } from 'node:timers/promises';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';

export interface ToolCall {
  readonly tool: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Repeats the call as long as the answer says so. */
  readonly until?: string;
}

export interface ToolResult {
  readonly task: string;
  readonly tool: string;
  readonly isError: boolean;
  readonly text: string;
}

export interface AgentScript {
  readonly [title: string]: readonly ToolCall[];
}

const callsMax = 200;
const againMs = 100;

async function main(): Promise<void> {
  const { env } = process;
  const task = env['DROVER_TASK_ID'] ?? '';
  const { DROVER_MCP_ROOT: root = '', DROVER_MCP_TOKEN: token = '', DROVER_RUN: run = '' } = env;
  const transport = new StdioClientTransport({
    command: env['DROVER_MCP_COMMAND'] ?? '',
    args: JSON.parse(env['DROVER_MCP_ARGS'] ?? '[]') as string[],
    env: {
      PATH: env['PATH'] ?? '',
      DROVER_MCP_ROOT: root,
      DROVER_MCP_TOKEN: token,
      DROVER_RUN: run,
    },
  });
  const client = new Client({ name: 'test-agent', version: '1.0.0' });
  await client.connect(transport);
  appendFileSync('../../tokens', `${task} ${token}\n`);
  const own = JSON.parse(await textOf(client, { tool: 'read_task' })) as { title: string };
  const script = existsSync('../../script.json')
    ? (JSON.parse(readFileSync('../../script.json', 'utf8')) as AgentScript)
    : {};
  for (const call of script[own.title] ?? []) {
    if (call.tool === 'list_tools') {
      const { tools } = await client.listTools();
      record({
        task,
        tool: call.tool,
        isError: false,
        text: tools.map((tool) => tool.name).join(' '),
      });
      continue;
    }
    for (let count = 0; count < callsMax; count += 1) {
      const result = await client.callTool({ name: call.tool, arguments: { ...call.args } });
      const text = (result.content as { text: string }[])[0]?.text ?? '';
      record({ task, tool: call.tool, isError: result.isError === true, text });
      if (call.until === undefined || text.includes(call.until)) break;
      // The backend may be unavailable for a while, so it is asked again when there may be news.
      if (result.isError === true) await delay(againMs);
    }
  }
  await client.close();
  appendFileSync('../../order', `${task}\n`);
  writeFileSync(`${task}.txt`, `work of ${task}\n`);
  console.log(`did ${own.title}`);
}

async function textOf(client: Client, { tool, args }: ToolCall): Promise<string> {
  const result = await client.callTool({ name: tool, arguments: { ...args } });
  return (result.content as { text: string }[])[0]?.text ?? '';
}

function record(result: ToolResult): void {
  appendFileSync('../../results', `${JSON.stringify(result)}\n`);
}

if (import.meta.main) await main();
