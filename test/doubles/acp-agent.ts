// An agent that implements the Agent Client Protocol on standard input and output, and follows the
// directives in the prompt. Its sessions are files in HOME, so another process of it can load them.

import {
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type AgentContext,
} from '@agentclientprotocol/sdk';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';

const home = join(process.env['HOME'] ?? '', 'acp-sessions');
mkdirSync(home, { recursive: true });
const canLoad = process.env['ACP_FORGETS'] === undefined;
const cancelled = new Map<string, AbortController>();
let cwd = process.cwd();
let servers = '[]';
let mode = 'build';
const availableModes = ['build', 'https://modes.example/#plan'].map((id) => ({ id, name: id }));
const modesOffered =
  process.env['ACP_MODES'] === undefined
    ? {}
    : { modes: { currentModeId: 'build', availableModes } };

const sessionFile = (id: string): string => join(home, `${id}.txt`);

async function say(client: AgentContext, sessionId: string, text: string): Promise<void> {
  await client.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
  });
}

/**
 * Asks first, and mentions the tool call only in the question and in updates, as some agents do.
 */
async function writeFileAsked(client: AgentContext, sessionId: string): Promise<boolean> {
  const toolCallId = 'write-1';
  const { outcome } = await client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: { toolCallId, title: 'Write made.txt', kind: 'edit', rawInput: { path: 'made.txt' } },
    options: [
      { optionId: 'x1', name: 'Allow', kind: 'allow_once' },
      { optionId: 'x2', name: 'Reject', kind: 'reject_once' },
    ],
  });
  if (outcome.outcome === 'cancelled') return false;
  const isAllowed = outcome.optionId === 'x1';
  if (isAllowed) writeFileSync(join(cwd, 'made.txt'), 'made\n');
  await client.notify(methods.client.session.update, {
    sessionId,
    update: {
      sessionUpdate: 'tool_call_update',
      toolCallId,
      status: isAllowed ? 'completed' : 'failed',
      content: [{ type: 'content', content: { type: 'text', text: isAllowed ? 'written' : 'no' } }],
    },
  });
  return true;
}

async function untilCancelled(sessionId: string): Promise<void> {
  const controller = new AbortController();
  cancelled.set(sessionId, controller);
  const awake = setInterval(() => {}, 1_000);
  await new Promise((resolve) => controller.signal.addEventListener('abort', resolve));
  clearInterval(awake);
}

agent({ name: 'double' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { loadSession: canLoad },
    authMethods: [],
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    cwd = params.cwd;
    servers = JSON.stringify(params.mcpServers);
    const sessionId = randomUUID();
    writeFileSync(sessionFile(sessionId), '');
    return { sessionId, ...modesOffered };
  })
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    mode = params.modeId;
    return {};
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    cwd = params.cwd;
    servers = JSON.stringify(params.mcpServers);
    if (!existsSync(sessionFile(params.sessionId))) throw new RequestError(-32_002, 'no session');
    await say(client, params.sessionId, 'replayed words\n\n');
    return { ...modesOffered };
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId } = params;
    const prompt = params.prompt.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const before = readFileSync(sessionFile(sessionId), 'utf8');
    appendFileSync(sessionFile(sessionId), `${prompt}\n`);
    if (prompt.includes('NOAUTH')) throw new RequestError(-32_000, 'Authentication required');
    if (prompt.includes('LIMIT')) throw new RequestError(429, 'Quota exceeded');
    if (prompt.includes('CRASH')) {
      process.stderr.write('it broke\n');
      process.exit(3);
    }
    await client.notify(methods.client.session.update, {
      sessionId,
      update: {
        sessionUpdate: 'plan',
        entries: [{ content: 'write', priority: 'high', status: 'pending' }],
      },
    });
    if (prompt.includes('SLEEP')) {
      await untilCancelled(sessionId);
      return { stopReason: 'cancelled' };
    }
    if (prompt.includes('WRITE') && !(await writeFileAsked(client, sessionId))) {
      return { stopReason: 'cancelled' };
    }
    if (prompt.includes('PLAN')) await say(client, sessionId, `# Plan in ${mode}\n\n1. One\n\n`);
    if (prompt.includes('TOOLS')) await say(client, sessionId, `servers ${servers}\n`);
    await say(
      client,
      sessionId,
      `remembers: ${before.trim() === '' ? 'nothing' : before.trim()}\n`,
    );
    await say(client, sessionId, `key is ${process.env['ACP_KEY'] ?? ''}`);
    return { stopReason: 'end_turn', _meta: { usage: { inputTokens: 12, outputTokens: 3 } } };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    cancelled.get(params.sessionId)?.abort();
  })
  .connect(
    ndJsonStream(
      Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
      Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>,
    ),
  );
