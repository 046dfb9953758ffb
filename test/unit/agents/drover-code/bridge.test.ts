// The bridge client without a process: frames, ids, order, heartbeats. Titles start with the line
// of the checklist.

import assert from 'node:assert/strict';
import {
  BridgeClient,
  type BridgeClientOptions,
  type BridgeError,
} from '../../../../server/agents/drover-code/bridge-client.ts';
import {
  encodeFrame,
  frameBytesMax,
  FrameReader,
  type FrameEvent,
} from '../../../../server/agents/drover-code/frame-codec.ts';

function frame(message: unknown): Buffer {
  const encoded = encodeFrame(message);
  assert.ok(encoded !== null);
  return encoded;
}

function bodies(events: readonly FrameEvent[]): string[] {
  return events.flatMap((event) => (event.kind === 'message' ? [event.body] : []));
}

suite('Drover Code bridge: frames', () => {
  test('B01 the length counts bytes, and nothing follows the body', () => {
    for (const text of ['plain', 'ünï', '😀 "q"\n', '\u0000']) {
      const body = Buffer.from(JSON.stringify({ text }));
      const expected = Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
      assert.deepEqual(frame({ text }), expected);
    }
  });

  test('B02 three replies arrive in order, in one chunk or byte by byte', () => {
    const all = Buffer.concat([1, 2, 3].map((id) => frame({ id, text: 'ü😀' })));
    const expected = [1, 2, 3].map((id) => JSON.stringify({ id, text: 'ü😀' }));
    assert.deepEqual(bodies(new FrameReader().push(all)), expected);
    const reader = new FrameReader();
    const events = [...all].flatMap((byte) => reader.push(Buffer.of(byte)));
    assert.deepEqual(bodies(events), expected);
  });

  test('B03 other headers and bare line feeds are accepted', () => {
    const variants = [
      'Content-Length: 2\n\n{}',
      'Content-Type: x\r\nContent-Length: 2\r\n\r\n{}',
      'Content-Length: 9\nContent-Length: 2\nX-Y: 1\n\n{}',
    ];
    for (const text of variants) {
      assert.deepEqual(bodies(new FrameReader().push(Buffer.from(text))), ['{}'], text);
    }
  });

  test('B04 stray text is reported and skipped, and too much of it is a clear failure', () => {
    for (const stray of ['panic: x\n', 'no end of line', 'A: 1\n\n', 'Content-Length: -5\r\n']) {
      const bytes = Buffer.concat([Buffer.from(stray), frame({ id: 1 })]);
      const events = new FrameReader().push(bytes);
      assert.deepEqual(bodies(events), ['{"id":1}'], stray);
      assert.ok(
        events.some((event) => event.kind === 'stray'),
        stray,
      );
    }
    const [failed] = new FrameReader().push(Buffer.alloc(70_000, 'x'));
    assert.ok(failed?.kind === 'failed' && failed.why === 'incompatible');
  });

  test('B05 a frame over 32 MiB is refused in both directions before any byte of it is stored', () => {
    const reader = new FrameReader();
    const [failed] = reader.push(Buffer.from(`Content-Length: ${frameBytesMax + 1}\r\n\r\n`));
    assert.ok(failed?.kind === 'failed' && failed.why === 'frame-too-large');
    assert.deepEqual(reader.push(frame({ id: 1 })), []);
    assert.equal(encodeFrame({ text: 'x'.repeat(frameBytesMax) }), null);
  });
});

interface Sent {
  readonly jsonrpc: string;
  readonly id: number;
  readonly method?: string;
  readonly params?: { readonly input?: string };
  readonly error?: { readonly code: number };
  readonly result?: unknown;
}

function connect(options: Partial<BridgeClientOptions> = {}) {
  const sent: Sent[] = [];
  const texts: string[] = [];
  const logged: string[] = [];
  const broken = Promise.withResolvers<BridgeError>();
  const reader = new FrameReader();
  const waiting = new Set<() => void>();
  const client = new BridgeClient({
    write: (bytes) => {
      for (const body of bodies(reader.push(bytes))) sent.push(JSON.parse(body) as Sent);
      for (const wake of waiting) wake();
      return true;
    },
    drained: () => Promise.resolve(),
    onText: (text) => texts.push(text),
    onLog: (text) => logged.push(text),
    onBroken: broken.resolve,
    ...options,
  });
  const reply = (message: object): void => client.take(frame({ jsonrpc: '2.0', ...message }));
  const sentSo = (count: number): Promise<Sent> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = sent[count - 1];
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  return { client, sent, texts, logged, broken: broken.promise, reply, sentSo };
}

suite('Drover Code bridge: conversation', () => {
  test('B06 request numbers are unique positive integers, and batches are never used', async () => {
    const { client, sent, sentSo } = connect();
    const all = [client.ping(), client.ping(), client.execute('x')];
    await sentSo(3);
    client.close({ kind: 'cancelled', message: '' });
    await Promise.all(all);
    const ids = sent.map((one) => one.id);
    assert.ok(ids.every((id) => Number.isSafeInteger(id) && id > 0));
    assert.equal(new Set(ids).size, 3);
  });

  test('B07 a bridge that cannot execute is incompatible', async () => {
    for (const result of [{}, null, { capabilities: { execute: 'true' } }]) {
      const { client, reply, broken, sentSo } = connect();
      const greeting = client.initialize();
      reply({ id: (await sentSo(1)).id, result });
      const answer = await greeting;
      assert.equal(!answer.ok && answer.error.kind, 'incompatible');
      assert.equal((await broken).kind, 'incompatible');
    }
  });

  test('B09 text is accepted during an execution, and ignored outside one', async () => {
    const { client, reply, texts, sentSo } = connect();
    const delta = (text: string) => reply({ method: 'drover/textDelta', params: { text } });
    delta('before');
    const running = client.execute('x');
    const { id } = await sentSo(1);
    delta('during');
    reply({ id, result: { output: 'during and more' } });
    const answer = await running;
    delta('after');
    assert.deepEqual(texts, ['during']);
    assert.equal(answer.ok && answer.value, 'during and more');
  });

  test('B10 unknown notifications are ignored, unknown requests are refused, and a ping is answered', async () => {
    const { reply, sent, sentSo } = connect();
    reply({ method: 'drover/whatever', params: [1] });
    reply({ id: 7, method: 'drover/ask' });
    reply({ id: 8, method: 'ping' });
    await sentSo(2);
    assert.deepEqual([sent[0]?.id, sent[0]?.error?.code], [7, -32_601]);
    assert.deepEqual([sent[1]?.id, sent[1]?.result], [8, 'pong']);
  });

  test('B11 a second prompt is written only after the answer to the first', async () => {
    const { client, sent, reply, sentSo } = connect();
    const [first, second] = [client.execute('one'), client.execute('two')];
    const { id } = await sentSo(1);
    const ping = client.ping();
    reply({ id: (await sentSo(2)).id, result: 'pong' });
    await ping;
    assert.deepEqual(
      sent.map((one) => one.method),
      ['drover/execute', 'ping'],
    );
    reply({ id, result: { output: '1' } });
    assert.equal((await first).ok, true);
    const next = await sentSo(3);
    assert.equal(next.params?.input, 'two');
    reply({ id: next.id, result: { output: '2' } });
    assert.equal((await second).ok, true);
  });

  test('B12 an empty prompt is refused, and nothing is written', async () => {
    const { client, sent } = connect();
    for (const text of ['', ' \n\t']) {
      const answer = await client.execute(text);
      assert.equal(!answer.ok && answer.error.kind, 'empty-prompt');
    }
    assert.deepEqual(sent, []);
  });

  test('B13 an error is reported verbatim, and the next prompt is sent', async () => {
    const { client, reply, sentSo } = connect();
    const [first, second] = [client.execute('one'), client.execute('two')];
    reply({ id: (await sentSo(1)).id, error: { code: -32_603, message: 'api error 400' } });
    const answer = await first;
    assert.ok(!answer.ok);
    assert.deepEqual(answer.error, { kind: 'rpc', code: -32_603, message: 'api error 400' });
    reply({ id: (await sentSo(2)).id, result: { output: 'fine' } });
    assert.equal((await second).ok, true);
  });

  test('B14 a ping that is answered early settles only itself', async () => {
    const { client, reply, sentSo } = connect();
    const running = client.execute('x');
    const ping = client.ping();
    const [execute, second] = [await sentSo(1), await sentSo(2)];
    const [executeId, pingId] =
      execute.method === 'ping' ? [second.id, execute.id] : [execute.id, second.id];
    reply({ id: pingId, result: 'pong' });
    const pong = await ping;
    assert.equal(pong.ok && pong.value, 'pong');
    reply({ id: executeId, result: { output: 'o' } });
    const answer = await running;
    assert.equal(answer.ok && answer.value, 'o');
  });

  test('B15 an answer without a request is logged and dropped', () => {
    const { reply, logged } = connect();
    reply({ id: 99, error: { code: -32_601, message: 'method not found: ' } });
    reply({ id: null, result: 1 });
    assert.equal(logged.length, 2);
  });

  test('B17 all waiting calls fail when the process has ended', async () => {
    const { client, sentSo } = connect();
    const all = [client.execute('one'), client.execute('two'), client.ping()];
    await sentSo(2);
    client.close({ kind: 'process-exited', message: 'the end of stderr' });
    for (const answer of await Promise.all(all)) {
      assert.equal(!answer.ok && answer.error.kind, 'process-exited');
    }
  });

  test('B23 a bridge that leaves two pings unanswered counts as hanging', async () => {
    const timing = { pingEveryMs: 1, pingMs: 1 };
    const { client, reply, broken, sent, sentSo } = connect({ timing });
    const greeting = client.initialize();
    reply({ id: (await sentSo(1)).id, result: { capabilities: { execute: true } } });
    assert.equal((await greeting).ok, true);
    assert.equal((await broken).kind, 'timeout');
    assert.equal(sent.filter((one) => one.method === 'ping').length, 2);
  });

  test('B24 when the pipe is full, the next frame waits until it has drained', async () => {
    const written: Buffer[] = [];
    const drain = Promise.withResolvers<void>();
    const waits = Promise.withResolvers<void>();
    const { client } = connect({
      write: (bytes) => {
        written.push(bytes);
        return written.length > 1;
      },
      drained: () => {
        waits.resolve();
        return drain.promise;
      },
    });
    const all = [client.ping(), client.ping()];
    await waits.promise;
    assert.equal(written.length, 1);
    drain.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(written.length, 2);
    assert.equal(bodies(new FrameReader().push(Buffer.concat(written))).length, 2);
    client.close({ kind: 'cancelled', message: '' });
    await Promise.all(all);
  });
});
