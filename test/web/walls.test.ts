// Pages of other sites, other users of the network and devices with too small a role: their tries
// at `drover web`, and the same as its own page does it.

import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import WebSocket from 'ws';
import { useProjects } from '../e2e/support/suite-projects.ts';
import { startWeb, type WebProgram } from './support/web-program.ts';

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface Got {
  readonly status: number;
  readonly cookie: string;
  readonly text: string;
}

async function send({ origin }: WebProgram, { method = 'POST', path, headers, body }: Sent) {
  const { hostname, port, host } = new URL(origin);
  return await new Promise<Got>((resolve, reject) => {
    const own = { host, origin, 'content-type': 'application/json' };
    const request = httpRequest(
      { hostname, port, path, method, headers: { ...own, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('end', () => {
          const [cookie = ''] = (response.headers['set-cookie'] ?? [''])[0]?.split(';') ?? [];
          resolve({ status: response.statusCode ?? 0, cookie, text });
        });
      },
    );
    request.on('error', reject).end(method === 'GET' ? '' : (body ?? '{}'));
  });
}

async function enter(web: WebProgram, url = web.url): Promise<Got> {
  const token = new URL(url).hash.slice('#token='.length);
  return await send(web, { path: '/enter', body: JSON.stringify({ token }) });
}

function ticketIn({ text }: Got): string {
  return (JSON.parse(text) as { ticket: string }).ticket;
}

interface Opened {
  readonly socket: WebSocket;
  /** Resolves with the answer, or rejects with the sentence of the refusal. */
  readonly ask: (name: string, params?: object, project?: string) => Promise<unknown>;
  readonly projects: readonly { readonly id: string }[];
}

/** Rejects with `closed <code>` when the server does not take it. */
async function open(
  web: WebProgram,
  first: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Opened> {
  const address = `${web.origin.replace('http', 'ws')}/socket`;
  const socket = new WebSocket(address, { headers: { origin: web.origin, ...headers } });
  const waiting = new Map<number, (message: Record<string, unknown>) => void>();
  let last = 0;
  let projects: Opened['projects'] = [];
  return await new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', (code) => reject(new Error(`closed ${code}`)));
    socket.on('open', () => socket.send(first));
    socket.on('message', (raw: Buffer) => {
      const message = JSON.parse(raw.toString()) as Record<string, unknown>;
      waiting.get(Number(message['ask']))?.(message);
      if (message['type'] === 'welcome') projects = message['projects'] as Opened['projects'];
      const { kind } = Object(message['connection']) as { kind?: string };
      if (kind !== 'connected') return;
      const ask: Opened['ask'] = async (name, params = {}, project = projects[0]?.id ?? '') =>
        await new Promise((answer, refuse) => {
          last += 1;
          waiting.set(last, ({ type, result, error }) => {
            if (type === 'answer') answer(result);
            else refuse(new Error((error as { message: string }).message));
          });
          socket.send(JSON.stringify({ ask: last, project, name, params }));
        });
      resolve({ socket, ask, projects });
    });
  });
}

suite('the walls of drover web', function () {
  this.timeout(120_000);
  const project = useProjects();

  async function begin(): Promise<WebProgram> {
    const here = project();
    await here.expect(0, ['init', '--yes']);
    await here.add('A secret plan');
    return await startWeb(here);
  }

  test('requests from other sites and from guessers get no data, but its own page does', async () => {
    const web = await begin();
    const entered = await enter(web);
    assert.equal(entered.status, 200);
    const { cookie } = entered;
    assert.match(cookie, /^drover=[0-9a-f]{12}\.[\w-]{43}$/u);
    const asItself: Sent = { path: '/ticket', headers: { cookie } };
    assert.equal((await send(web, asItself)).status, 200);
    const port = new URL(web.origin).port;
    const refused: Readonly<Record<string, readonly [Sent, number]>> = {
      'no cookie': [{ path: '/ticket' }, 401],
      'a cookie of no device': [{ path: '/ticket', headers: { cookie: 'drover=a.b' } }, 401],
      'a cookie with another secret': [
        { path: '/ticket', headers: { cookie: `${cookie.slice(0, -3)}AAA` } },
        401,
      ],
      'another origin': [{ ...asItself, headers: { cookie, origin: 'http://evil.example' } }, 403],
      'the origin of another port': [
        { ...asItself, headers: { cookie, origin: 'http://127.0.0.1:1' } },
        403,
      ],
      'the origin null': [{ ...asItself, headers: { cookie, origin: 'null' } }, 403],
      'no origin': [{ ...asItself, headers: { cookie, origin: '' } }, 403],
      'an origin that only begins like its own': [
        { ...asItself, headers: { cookie, origin: `${web.origin}.evil.example` } },
        403,
      ],
      'a form': [
        { ...asItself, headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' } },
        403,
      ],
      'plain text': [{ ...asItself, headers: { cookie, 'content-type': 'text/plain' } }, 403],
      'a name that was made to point here': [
        {
          ...asItself,
          headers: { cookie, host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
        },
        421,
      ],
      'the same for a page': [
        { method: 'GET', path: '/', headers: { host: `evil.example:${port}` } },
        421,
      ],
      'a token in the query': [
        { method: 'GET', path: `/enter?token=${new URL(web.url).hash}`, headers: { cookie } },
        404,
      ],
      'another method': [{ method: 'PUT', path: '/ticket', headers: { cookie } }, 405],
      'a file beside the bundles': [{ method: 'GET', path: '/../package.json' }, 404],
      'the same, encoded': [{ method: 'GET', path: '/%2e%2e/package.json' }, 404],
      'an unknown path': [{ path: '/devices', headers: { cookie } }, 404],
    };
    for (const [what, [sent, status]] of Object.entries(refused)) {
      const got = await send(web, sent);
      assert.deepEqual([what, got.status], [what, status]);
      assert.doesNotMatch(got.text, /secret plan|ticket|token/u, what);
    }
    await web.stop();
  });

  test('a link lets one browser in, and five wrong ones in a minute cause a pause', async () => {
    const web = await begin();
    assert.equal((await enter(web)).status, 200);
    const wrong: number[] = [];
    for (let tries = 0; tries < 7; tries += 1) wrong.push((await enter(web)).status);
    assert.deepEqual(wrong, [403, 403, 403, 403, 403, 429, 429]);
    await web.stop();
  });

  test('a socket opens only with a ticket from its own page, once', async () => {
    const web = await begin();
    const entered = await enter(web);
    const ticket = ticketIn(entered);
    const greeting = JSON.stringify({ ticket });
    await assert.rejects(open(web, greeting, { origin: 'http://evil.example' }), /403/u);
    await assert.rejects(open(web, greeting, { origin: '' }), /403/u);
    await assert.rejects(open(web, greeting, { host: 'evil.example' }), /403/u);
    await assert.rejects(open(web, JSON.stringify({ ticket: 'x'.repeat(32) })), /closed 4401/u);
    await assert.rejects(open(web, 'not JSON'), /closed 4401/u);
    await assert.rejects(
      open(web, JSON.stringify({ ask: 1, name: 'status' }), { cookie: entered.cookie }),
      /closed 4401/u,
    );
    const { ask, socket } = await open(web, greeting);
    assert.match(JSON.stringify(await ask('status')), /A secret plan/u);
    await assert.rejects(open(web, greeting), /closed 4401/u);
    socket.close();
    await web.stop();
  });

  test('a page may send only requests on its list, whatever its role', async () => {
    const web = await begin();
    const { ask, socket } = await open(web, JSON.stringify({ ticket: ticketIn(await enter(web)) }));
    const others = [
      'shutdown',
      'backend.leave',
      'hello',
      'import',
      'export',
      'reset',
      'prune',
      'webhooks.test',
      'toString',
      '__proto__',
      'agent.add',
    ];
    for (const name of others) await assert.rejects(ask(name), /may not ask/u, name);
    await assert.rejects(ask('status', {}, 'another'), /not open here/u);
    socket.close();
    await web.stop();
  });

  test('a device can do what its role allows, and is disconnected when it is removed', async () => {
    const web = await begin();
    const owner = await open(web, JSON.stringify({ ticket: ticketIn(await enter(web)) }));
    const pair = async (role: string): Promise<Opened & { readonly cookie: string }> => {
      const { url } = (await owner.ask('web.pair', { role, name: role })) as { url: string };
      const entered = await enter(web, url);
      const opened = await open(web, JSON.stringify({ ticket: ticketIn(entered) }));
      return { ...opened, cookie: entered.cookie };
    };
    const looks = await pair('see');
    const answers = await pair('answer');
    const grown = await pair('root');
    assert.match(JSON.stringify(await looks.ask('status')), /A secret plan/u);
    for (const name of [
      'answer',
      'approve',
      'run.start',
      'worktree.prune',
      'web.pair',
      'web.devices',
    ]) {
      await assert.rejects(looks.ask(name, { id: 'x', title: 'x' }), /may only look/u, name);
      await assert.rejects(grown.ask(name, { id: 'x', title: 'x' }), /may only look/u, name);
    }
    for (const name of ['approve', 'run.start', 'worktree.prune', 'web.pair', 'web.remove']) {
      await assert.rejects(answers.ask(name, { id: 'x' }), /may look and answer/u, name);
    }
    await assert.rejects(answers.ask('answer', { id: 'x', choice: 'yes' }), /x/u);
    await assert.rejects(answers.ask('approve', { id: 'x', seen: 'plan-1' }), /x/u);
    const ended = new Promise<number>((resolve) => looks.socket.once('close', resolve));
    const devices = (await owner.ask('web.devices')) as readonly { id: string; name: string }[];
    assert.doesNotMatch(JSON.stringify(devices), /hash|secret/u);
    const removed = devices.find(({ name }) => name === 'see');
    await owner.ask('web.remove', { device: removed?.id });
    assert.equal(await ended, 4401);
    const { status } = await send(web, { path: '/ticket', headers: { cookie: looks.cookie } });
    assert.equal(status, 401);
    for (const { socket } of [owner, answers, grown]) socket.close();
    await web.stop();
  });

  test('a network address without TLS is refused', async () => {
    const here = project();
    await here.expect(0, ['init', '--yes']);
    for (const address of ['0.0.0.0:0', ':0', '192.0.2.1:8080', '[::]:0']) {
      const { code, stderr } = await here.drover(['web', '--listen', address]);
      assert.equal(code, 3, address);
      assert.match(stderr, /Others on the network could read .* Use --tls-cert and --tls-key/u);
    }
    const half = await here.drover(['web', '--tls-cert', 'a.pem']);
    assert.match(half.stderr, /--tls-cert and --tls-key go together/u);
    const plain = await here.drover(['web', '--behind-proxy', 'http://proxy.example']);
    assert.match(plain.stderr, /must be the address of the proxy, such as https:/u);
  });
});
