// An agent's token admits it to its own requests and to nothing else; it does not admit clients of
// people.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '../../../server/core/failure.ts';
import type { AgentClient, AgentHandlers } from '../../../server/protocol/agent-requests.ts';
import { connectAgentSocket, connectSocket } from '../../../server/rpc/transport/client.ts';
import { ConnectFailure } from '../../../server/rpc/transport/errors.ts';
import { serveSocket, type ServedSocket } from '../../../server/rpc/transport/server.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';
import { removeFolder } from '../../remove-folder.ts';

const ownersToken = 'a'.repeat(64);
const agentsToken = 'b'.repeat(64);

suite("the agents' connection", () => {
  let folder = '';
  let path = '';
  let served: ServedSocket;
  let agent: AgentClient;
  let asked: unknown[];
  let hasLeft: boolean;

  setup(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drover-door-'));
    path = join(folder, 'private', 'backend.sock');
    asked = [];
    hasLeft = false;
    const backend = memoryBackend();
    const handlers = {
      'agent.progress': async (params: unknown) => {
        asked.push(params);
        return { message: 'Noted.' };
      },
      'agent.block': async () => {
        throw new Refusal('cycle', 'A would wait for itself: A → B → A.');
      },
    } as unknown as AgentHandlers;
    served = await serveSocket({
      path,
      token: ownersToken,
      handlers: backend.handlers,
      agents: { open: (token) => (token === agentsToken ? handlers : null) },
      feed: backend.feed,
      version: '0.0.1',
      root: '/project',
      onClientCount: () => {},
      isIdle: () => true,
      onLeaving: () => {
        hasLeft = true;
      },
    });
    agent = await connectAgentSocket({ socket: path }, agentsToken);
  });

  teardown(async () => {
    agent.close();
    await served.close('the test is over');
    removeFolder(folder);
  });

  const send = (name: string, params: unknown): Promise<unknown> =>
    agent.call(name as never, params as never);

  test('its requests are served, without unknown fields', async () => {
    const answer = await send('agent.progress', { text: 'Half is done.', more: 1 });
    assert.deepEqual([answer, asked], [{ message: 'Noted.' }, [{ text: 'Half is done.' }]]);
  });

  test('a refusal arrives as its sentence', async () => {
    await assert.rejects(send('agent.block', { by: 'B' }), /A would wait for itself: A → B → A\./);
  });

  const forbidden: readonly (readonly [string, unknown, RegExp])[] = [
    ['status', {}, /may not ask for "status"/],
    ['task.edit', { id: 'x', title: 'Mine' }, /may not ask for "task.edit"/],
    ['answer', { id: 'q', choice: 'yes' }, /may not ask for "answer"/],
    ['subscribe', {}, /may not ask for "subscribe"/],
    ['shutdown', { force: true }, /may not ask for "shutdown"/],
    ['constructor', {}, /may not ask for "constructor"/],
    ['hello', { token: ownersToken, client: 'x', version: '1', protocol: 1 }, /already sent/],
    ['agent.progress', {}, /needs the parameter text/],
    ['agent.progress', { text: 7 }, /"text" must be a string/],
    ['agent.add', [], /must be an object/],
  ];
  for (const [name, params, sentence] of forbidden) {
    test(`an agent's request is refused: ${name} with ${JSON.stringify(params).slice(0, 40)}`, async () => {
      await assert.rejects(send(name, params), sentence);
      assert.deepEqual(asked, []);
    });
  }

  for (const token of ['', 'b', 'c'.repeat(64), `${agentsToken} `]) {
    test(`an unknown token is refused: "${token.slice(0, 4)}" of ${token.length}`, () =>
      assert.rejects(
        connectAgentSocket({ socket: path }, token),
        (error) => error instanceof ConnectFailure && error.kind === 'refused',
      ));
  }

  test("an agent's newer version does not make a backend exit", () => assert.equal(hasLeft, false));

  test("with the owner's token, agents' requests do not exist", async () => {
    const address = { pid: 1, start_time: '', socket: path, token: ownersToken };
    const owner = await connectSocket(
      { ...address, version: '0.0.1', protocol: 1 },
      { version: '0.0.1' },
    );
    await assert.rejects(
      owner.call('agent.progress' as never, { text: 'x' } as never),
      /Request "agent.progress" does not exist/,
    );
    owner.close();
  });
});
