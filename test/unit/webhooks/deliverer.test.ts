// Webhooks from the event to the receiver: requests are signed as receivers check them, and are
// repeated until they arrive.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { resolveSettings, shownSettings } from '../../../server/core/settings/settings-resolve.ts';
import type { WebhookEndpoint } from '../../../server/core/settings/webhook-endpoints.ts';
import { WebhookDeliverer } from '../../../server/webhooks/deliverer.ts';
import { isPrivate, retryAfterMs } from '../../../server/webhooks/post.ts';
import { listDeliveries, retryDeliveries } from '../../../server/store/webhooks/webhooks.ts';
import { startWebReceiver, type WebReceiver } from '../../doubles/web-receiver.ts';
import {
  addTasks,
  memoryStore,
  moveTask,
  testSources,
  type TestStore,
} from '../store/memory-store.ts';

const secret = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const dayMs = 24 * 3_600_000;

function endpointAt(url: string, more: Partial<WebhookEndpoint> = {}): WebhookEndpoint {
  return {
    name: 'ci',
    url,
    secret,
    secretVariable: null,
    events: [],
    format: 'drover',
    headers: {},
    enabled: true,
    ...more,
  };
}

suite('webhooks', () => {
  let project: TestStore;
  let receiver: WebReceiver;
  let deliverers: WebhookDeliverer[] = [];

  setup(async () => {
    project = await memoryStore(testSources(Date.now()));
    receiver = await startWebReceiver();
  });

  teardown(async () => {
    for (const deliverer of deliverers) await deliverer.close();
    deliverers = [];
    await receiver.close();
    await project.close();
  });

  function deliverer(endpoint: WebhookEndpoint, allowPrivate = true): WebhookDeliverer {
    const settings = { enabled: true, allowPrivate, endpoints: [endpoint] };
    const made = new WebhookDeliverer({
      store: project.store,
      machineId: '',
      project: '0123456789ab',
      settings: () => settings,
      offered: () => settings,
      environment: () => ({ HOOK_WORD: secret }),
      chance: () => 0.5,
    });
    deliverers.push(made);
    return made;
  }

  const events = (): string[] =>
    receiver.received.map(({ body }) => (JSON.parse(body) as { event: string }).event);

  test('an endpoint gets the events after it was set, in order and signed', async () => {
    await addTasks(project, [{ title: 'old' }]);
    const sender = deliverer(endpointAt(`${receiver.url}/hook`, { headers: { 'x-team': 'a' } }));
    assert.deepEqual(await sender.turn(), { nextMs: null, nextHopefulMs: null });
    const { task } = await addTasks(project, [{ title: 'task' }]);
    await moveTask(project, task ?? '', ['claimed', 'in_progress']);
    await sender.turn();
    await sender.turn();
    assert.deepEqual(events(), ['task.created', 'task.claimed']);

    const [first] = receiver.received;
    assert.ok(first !== undefined);
    const { headers, body } = first;
    assert.equal(first.path, '/hook');
    assert.equal(headers['x-team'], 'a');
    assert.equal(headers['user-agent'], 'Drover-Webhooks/1.0');
    assert.deepEqual(new Webhook(secret).verify(body, headers as Record<string, string>), {
      event: 'task.created',
      type: 'task.created',
      timestamp: Math.floor(project.sources.nowMs / 1_000),
      webhook_id: 'ci',
      delivery_id: headers['webhook-id'],
      data: { task: { task_id: task, title: 'task', status: 'created' } },
    });
    const upstream = createHmac('sha256', secret).update(body).digest('hex');
    assert.equal(headers['x-webhook-signature'], `sha256=${upstream}`);
    assert.equal(headers['x-webhook-delivery-id'], headers['webhook-id']);
    assert.equal(headers['x-webhook-event'], 'task.created');
    assert.match(String(headers['webhook-id']), /^[0-9]{19}-[0-9a-z]{8}$/);
    assert.throws(() => new Webhook(secret).verify(`${body} `, headers as Record<string, string>));
  });

  test('a receiver that is down for a day gets everything afterwards, each delivery under one id', async () => {
    const sender = deliverer(endpointAt(receiver.url));
    await sender.turn();
    const beganMs = project.sources.nowMs;
    receiver.answer = (response) => {
      if (project.sources.nowMs < beganMs + dayMs) response.statusCode = 503;
      response.end();
    };
    await addTasks(project, [{ title: 'a' }, { title: 'b' }, { title: 'c' }]);
    let turns = 0;
    for (;;) {
      const { nextMs } = await sender.turn();
      if (nextMs === null) break;
      assert.ok(nextMs > project.sources.nowMs, 'the next turn lies in the future');
      project.sources.nowMs = nextMs;
      turns += 1;
      assert.ok(turns < 500, 'it ends');
    }
    const rows = await listDeliveries(project.store.db, {}, 10);
    assert.deepEqual(
      rows.map(({ state, last_answer: answer }) => [state, answer]),
      [
        ['sent', 'HTTP 200'],
        ['sent', 'HTTP 200'],
        ['sent', 'HTTP 200'],
      ],
    );
    assert.ok(project.sources.nowMs >= beganMs + dayMs);
    const ids = receiver.received.map(({ headers }) => String(headers['webhook-id']));
    assert.deepEqual([...new Set(ids)].toSorted(), rows.map(({ id }) => id).toSorted());
    for (const { body, headers } of receiver.received) {
      assert.equal(
        (JSON.parse(body) as { delivery_id: string }).delivery_id,
        headers['webhook-id'],
      );
    }
  });

  test('delivery to a receiver that stays down is given up after three days, listed, and sent on request', async () => {
    const sender = deliverer(endpointAt(receiver.url));
    await sender.turn();
    receiver.answer = (response) => {
      response.statusCode = 500;
      response.end();
    };
    await addTasks(project, [{ title: 'a' }]);
    const beganMs = project.sources.nowMs;
    for (let next = await sender.turn(); next.nextMs !== null; next = await sender.turn())
      project.sources.nowMs = next.nextMs;
    const [failed] = await listDeliveries(project.store.db, { state: 'failed' }, 10);
    assert.equal(failed?.tries, 10);
    assert.ok(project.sources.nowMs - beganMs > 3 * dayMs);
    receiver.answer = (response) => response.end();
    assert.deepEqual(await project.store.transaction((tx) => retryDeliveries(tx, null, 0)), [
      failed?.id,
    ]);
    project.sources.nowMs += 3_600_000;
    await sender.turn();
    const [sent] = await listDeliveries(project.store.db, {}, 10);
    assert.deepEqual([sent?.state, sent?.id], ['sent', failed?.id]);
  });

  test('redirects are not followed, Retry-After is honored, and 410 disables the endpoint', async () => {
    const sender = deliverer(endpointAt(receiver.url));
    await sender.turn();
    receiver.answer = (response) =>
      response.writeHead(302, { location: `${receiver.url}/b` }).end();
    await addTasks(project, [{ title: 'a' }]);
    await sender.turn();
    assert.deepEqual(
      receiver.received.map(({ path }) => path),
      ['/'],
    );
    receiver.answer = (response) => response.writeHead(429, { 'retry-after': '7200' }).end();
    project.sources.nowMs += 60_000;
    const { nextMs } = await sender.turn();
    assert.equal(nextMs, project.sources.nowMs + 7_200_000);
    receiver.answer = (response) => response.writeHead(410).end();
    project.sources.nowMs += 7_200_000;
    assert.deepEqual(await sender.turn(), { nextMs: null, nextHopefulMs: null });
    const count = receiver.received.length;
    await addTasks(project, [{ title: 'b' }]);
    await sender.turn();
    assert.equal(receiver.received.length, count);
  });

  test('only the chosen events are sent, in the format of a chat', async () => {
    const chat = endpointAt(receiver.url, { format: 'slack', events: ['task.created'] });
    const sender = deliverer(chat);
    await sender.turn();
    const { 'a <!channel> & b': id } = await addTasks(project, [{ title: 'a <!channel> & b' }]);
    await moveTask(project, id ?? '', ['claimed']);
    await sender.turn();
    assert.deepEqual(
      receiver.received.map(({ body }) => JSON.parse(body) as unknown),
      [{ text: `Drover: ${id} "a &lt;!channel&gt; &amp; b" was created.` }],
    );
    const discord = deliverer(endpointAt(receiver.url, { name: 'two', format: 'discord' }));
    await discord.turn();
    await addTasks(project, [{ title: '@everyone *look*' }]);
    await discord.turn();
    const last = JSON.parse(receiver.received.at(-1)?.body ?? '') as Record<string, unknown>;
    assert.deepEqual(last['allowed_mentions'], { parse: [] });
    assert.match(String(last['content']), /"\\@everyone \\\*look\\\*" was created\.$/);
  });

  test('a secret may be in a variable of the environment', async () => {
    const sender = deliverer(
      endpointAt(receiver.url, { secret: null, secretVariable: 'HOOK_WORD' }),
    );
    await sender.turn();
    await addTasks(project, [{ title: 'a' }]);
    await sender.turn();
    const [post] = receiver.received;
    assert.ok(post !== undefined);
    new Webhook(secret).verify(post.body, post.headers as Record<string, string>);
  });

  test('addresses of this machine and of private networks are refused, as numbers and as names', async () => {
    const port = new URL(receiver.url).port;
    for (const [at, host] of ['127.0.0.1', 'localhost', '[::1]', '0x7f.1'].entries()) {
      const name = `e${at}`;
      const sender = deliverer(endpointAt(`http://${host}:${port}/`, { name }), false);
      await sender.turn();
      await addTasks(project, [{ title: name }]);
      await sender.turn();
      const [row] = await listDeliveries(project.store.db, { endpoint: name }, 1);
      assert.match(String(row?.last_answer), /private network.*allow_private/, host);
    }
    assert.deepEqual(receiver.received, []);
    const inside = ['10.1.2.3', '192.168.0.1', '172.20.0.1', '169.254.169.254', 'fd00::1', '::1'];
    for (const address of [...inside, '::ffff:10.0.0.1', '64:ff9b::a00:1', '0.0.0.0'])
      assert.ok(isPrivate(address), address);
    for (const address of ['93.184.216.34', '2606:2800:220:1::1', '172.32.0.1'])
      assert.ok(!isPrivate(address), address);
  });

  test('two processes on one outbox send each delivery once', async () => {
    const endpoint = endpointAt(receiver.url);
    const one = deliverer(endpoint);
    const two = deliverer(endpoint);
    await one.turn();
    await addTasks(
      project,
      Array.from({ length: 20 }, (_, at) => ({ title: `task ${at}` })),
    );
    await Promise.all([one.turn(), two.turn(), one.turn(), two.turn()]);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    assert.equal(new Set(ids).size, 20);
    assert.equal(ids.length, 20);
  });

  test('Retry-After is read as seconds and as a date', () => {
    assert.equal(retryAfterMs('120', 0), 120_000);
    assert.equal(retryAfterMs('Thu, 01 Jan 1970 00:01:00 GMT', 30_000), 30_000);
    assert.equal(retryAfterMs('soon', 0), null);
  });
});

suite('webhook settings', () => {
  const entry = (key: string, raw: unknown) => ({
    key,
    raw,
    form: 'typed' as const,
    origin: '.drover.toml',
    line: 1,
  });
  const resolve = (...entries: ReturnType<typeof entry>[]) =>
    resolveSettings([{ source: 'project', entries }]);

  test('no secret and no path of a URL is ever shown', () => {
    const loaded = resolve(
      entry('webhooks.url', 'https://hooks.example.com/T000/wordless'),
      entry('webhooks.secret', 'whsec_verysecretword'),
      entry('webhooks.endpoints', {
        chat: {
          url: 'https://chat.example.com/wordless?x=1',
          secret: 'verysecretword',
          headers: { authorization: 'Bearer verysecretword' },
        },
      }),
    );
    assert.deepEqual(loaded.problems, []);
    assert.deepEqual(
      loaded.settings.webhooks.endpoints.map(({ name, url }) => [name, url]),
      [
        ['default', 'https://hooks.example.com/T000/wordless'],
        ['chat', 'https://chat.example.com/wordless?x=1'],
      ],
    );
    const shown = JSON.stringify(shownSettings(loaded));
    assert.doesNotMatch(shown, /verysecretword|wordless/);
    assert.match(shown, /https:\/\/hooks\.example\.com\/…/);
  });

  test('an invalid value is named, but not repeated', () => {
    for (const [key, raw, expected] of [
      ['webhooks.url', 'ftp://verysecretword', /`webhooks.url` has a wrong value; expected a URL/],
      ['webhooks.url', 'https://me:verysecretword@host/', /expected a URL/],
      ['webhooks.secret', 'very secretword', /expected a string without spaces/],
      [
        'webhooks.endpoints',
        { a: { url: 'verysecretword' } },
        /for `url` in \[webhooks.endpoints.a\]/,
      ],
      [
        'webhooks.endpoints',
        { a: { url: 'https://a/', events: ['task.done'] } },
        /a list of task.created/,
      ],
      [
        'webhooks.endpoints',
        { a: { url: 'https://a/', format: 'teams' } },
        /drover, slack, discord/,
      ],
      ['webhooks.endpoints', { default: { url: 'https://a/' } }, /another name than default/],
      ['webhooks.endpoints', { a: { url: 'https://a/', headers: { Host: 'b' } } }, /headers/],
      ['webhooks.endpoints', 3, /tables of endpoints/],
    ] as const) {
      const [problem] = resolve(entry(key, raw)).problems;
      assert.match(problem?.message ?? 'none', expected);
      assert.doesNotMatch(problem?.message ?? '', /verysecretword/);
    }
  });
});
