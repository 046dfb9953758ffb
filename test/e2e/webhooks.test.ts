// Webhooks of a real run: the run does not wait for the receiver, and a backend that is killed
// while it sends loses nothing.

import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import type { WebhookList } from '../../server/protocol/webhook-views.ts';
import { startWebReceiver, type WebReceiver } from '../doubles/web-receiver.ts';
import { eventually } from './support/eventually.ts';
import { useProjects } from './support/suite-projects.ts';

const secret = `whsec_${Buffer.from('a key of twenty-four bytes').toString('base64')}`;

suite('webhooks of a run', function () {
  this.timeout(180_000);
  const project = useProjects();
  let receiver: WebReceiver;

  setup(async () => {
    receiver = await startWebReceiver();
  });

  teardown(() => receiver.close());

  test('a backend is killed while it sends, and everything arrives, once per id', async () => {
    const here = project({
      env: {
        DROVER_WEBHOOK_URL: `${receiver.url}/a-hidden-path`,
        DROVER_WEBHOOK_SECRET: secret,
        DROVER_WEBHOOKS_ALLOW_PRIVATE: '1',
      },
    });
    await here.expect(0, ['init']);
    const id = await here.add('A task');
    // Accepts the post but never answers.
    receiver.answer = () => {};
    await here.expect(0, ['run', '--gate', 'true']);
    await eventually('a post arrives', () => receiver.received.length > 0);
    assert.equal(receiver.received.length, 1, 'the next one waits for the answer');
    assert.equal(await here.killBackend(), true);

    receiver.answer = (response) => response.end();
    await here.expect(0, ['webhooks', 'retry']);
    const done = await eventually('all are sent', async () => {
      const list = await here.json<WebhookList>(['webhooks', 'list', '--limit', '100']);
      const isDone = list.deliveries.every(({ state }) => state === 'sent');
      return isDone && list.deliveries.some(({ event }) => event === 'run.ended') ? list : null;
    });
    assert.equal(done.endpoints[0]?.sent, done.deliveries.length);
    const byId = new Map<string, string[]>();
    for (const { headers, body } of receiver.received) {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      const known = byId.get(String(headers['webhook-id'])) ?? [];
      byId.set(String(headers['webhook-id']), [...known, body]);
    }
    assert.deepEqual([...byId.keys()].toSorted(), done.deliveries.map((one) => one.id).toSorted());
    for (const bodies of byId.values()) assert.equal(new Set(bodies).size, 1);
    const names = [...byId.values()].map(
      ([body]) => (JSON.parse(body ?? '') as { event: string }).event,
    );
    const ofTask = [
      'task.claimed',
      'task.started',
      'worker.started',
      'worker.stopped',
      'task.completed',
    ];
    assert.deepEqual(names, ['run.started', ...ofTask, 'run.ended'], id);

    const everything = [
      await here.expect(0, ['webhooks', 'list']),
      await here.expect(0, ['status', '--json']),
      await here.expect(0, ['events', '--json']),
    ].join('\n');
    assert.ok(!everything.includes('a-hidden-path') && !everything.includes(secret.slice(6)));
  });

  test('test posts at once, and reports the result', async () => {
    const here = project({
      settings: `[webhooks]\nallow_private = true\n[webhooks.endpoints.chat]\nurl = "${receiver.url}/x"\nformat = "slack"\n`,
    });
    await here.expect(0, ['init']);
    await here.expect(0, ['trust', '--yes']);
    assert.match(await here.expect(0, ['webhooks', 'test']), /^ok +chat: HTTP 200$/m);
    assert.deepEqual(
      receiver.received.map(({ body }) => JSON.parse(body) as unknown),
      [{ text: 'Drover: this is a test message.' }],
    );
    receiver.answer = (response) => response.writeHead(404).end();
    assert.match(await here.expect(1, ['webhooks', 'test', 'chat']), /^FAILED chat: HTTP 404$/m);
    const unknown = await here.drover(['webhooks', 'test', 'other']);
    assert.equal(unknown.code, 3);
    assert.match(unknown.stderr, /Webhook endpoint other does not exist/);
  });
});
