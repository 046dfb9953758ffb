// C18–C27: the stream of a job from a runtime that behaves like upstream's, including its defects.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HeadlessTranslator } from '../../../../server/agents/drover-code/headless-events.ts';
import { noUsage } from '../../../../server/agents/port.ts';
import { EventParser } from '../../../../server/workers/client/event-parser.ts';
import { followJob, type JobEnd } from '../../../../server/workers/client/follow-job.ts';
import { startJob } from '../../../../server/workers/client/worker-calls.ts';
import { startStockWorker, type StockOptions } from '../../../doubles/stock-worker.ts';
import { removeFolder } from '../../../remove-folder.ts';

const times = { firstDelayMs: 5, longestDelayMs: 20, giveUpMs: 2_000, quietMs: 10_000 };
const tenLines = 'for i in 0 1 2 3 4 5 6 7 8 9; do echo line-$i; done; exit 3';
const ten = Array.from({ length: 10 }, (_, n) => `line-${n}`);

interface Followed {
  readonly end: JobEnd;
  readonly lines: readonly string[];
  readonly gaps: readonly (number | null)[];
  readonly streams: readonly string[];
  readonly away: readonly string[];
}

async function followed(
  command: string,
  options: Partial<StockOptions>,
  own: Partial<typeof times> = {},
): Promise<Followed> {
  const workspace = mkdtempSync(join(tmpdir(), 'drover-stock-'));
  const worker = await startStockWorker({ workspace, token: 't', ...options });
  const lines: string[] = [];
  const gaps: (number | null)[] = [];
  const away: string[] = [];
  const address = { url: worker.url, token: 't' };
  const output = {
    onLine: (_: string, line: string) => void lines.push(line),
    onGap: (count: number | null) => void gaps.push(count),
    onAway: (message: string) => void away.push(message),
  };
  try {
    const signal = new AbortController().signal;
    const job = await startJob(address, command, signal);
    assert.ok(job.ok);
    const end = await followJob(address, job.value, output, signal, {
      times: { ...times, ...own },
    });
    const streams = worker.requests.filter((request) => request.includes('/stream'));
    return { end, lines, gaps, streams, away };
  } finally {
    await worker.close();
    removeFolder(workspace);
  }
}

const done = { kind: 'done', exitCode: 3, signal: null };

suite('the stream of a job', () => {
  test('C18 after an interruption the last id is sent, and nothing is shown twice', async () => {
    const { end, lines, streams } = await followed(tenLines, { cutAfter: 6 });
    assert.deepEqual(end, done);
    assert.deepEqual(lines, ten);
    assert.deepEqual(streams, ['GET /exec/JOB/stream', 'GET /exec/JOB/stream [5]']);
  });

  test('C19 an id without its data does not count', async () => {
    const { lines, streams } = await followed(tenLines, { cutWithin: 6 });
    assert.deepEqual(lines, ten);
    assert.equal(streams[1], 'GET /exec/JOB/stream [5]');
  });

  test('C20 the end of a stream without done is not the end of the job', async () => {
    const { end, streams } = await followed(`${tenLines}`, { cutAfter: 10 });
    assert.deepEqual(end, done);
    assert.equal(streams.length, 2);
  });

  test('C20 also: a runtime that never sends done ends without a status', async () => {
    const { end, lines } = await followed(tenLines, { losesDone: true });
    assert.deepEqual(end, { kind: 'no_status' });
    assert.deepEqual(lines, ten);
  });

  test('C21 evicted events are shown as a gap, and the job continues', async () => {
    const { end, lines, gaps } = await followed(
      `${tenLines.replace('exit 3', 'sleep 0.2; exit 3')}`,
      {
        bufferMax: 3,
        refusals: [503, 503, 503, 503],
      },
    );
    assert.deepEqual(end, done);
    assert.deepEqual(gaps, [lines.length === 3 ? 7 : 8]);
    assert.deepEqual(lines, ten.slice(-lines.length));
  });

  test('§5.3 a done event that is stored while a reader disconnects is fetched by the next connection', async () => {
    const { end, lines, gaps, streams } = await followed(tenLines, { endsBeforeDone: { left: 2 } });
    assert.deepEqual([end, lines, gaps], [done, ten, []]);
    assert.deepEqual(streams.slice(1), Array(2).fill('GET /exec/JOB/stream [9]'));
  });

  test('§5.3 a reader that stalls until the job ends and is closed without done gets the rest over a new connection', async () => {
    const { end, lines, gaps, streams } = await followed(`sleep 0.05; ${tenLines}`, {
      stalls: { left: 1, after: 4 },
      bufferMax: 5,
    });
    assert.deepEqual(end, done);
    assert.deepEqual(lines, [...ten.slice(0, 4), ...ten.slice(6)]);
    // The runtime's notice has the number of the first of the two.
    assert.deepEqual(gaps, [null, 1]);
    assert.deepEqual(streams.slice(1), ['GET /exec/JOB/stream [3]']);
  });

  test('§5.3 events that are evicted without a notice while they are sent are shown as a gap', async () => {
    const { end, lines, gaps, streams } = await followed(tenLines, { evicts: [4, 7] });
    assert.deepEqual([end, gaps], [done, [3]]);
    assert.deepEqual(lines, [...ten.slice(0, 4), ...ten.slice(7)]);
    assert.equal(streams.length, 1);
  });

  test('§5.3 a legacy runtime that drops done and forgets the job with its reader is distinguished from a lost job', async () => {
    const { end, lines } = await followed(tenLines, { isLegacy: true });
    assert.deepEqual(lines, ten);
    assert.ok(end.kind === 'lost');
    assert.equal(end.isForgotten, true);
  });

  test('C22 without ids, a repeated start is shown once', async () => {
    const { end, lines, streams } = await followed('sleep 0.1; echo a; echo b; sleep 0.2; echo c', {
      ids: false,
      cutAfter: 2,
      losesDone: true,
    });
    assert.deepEqual(streams.slice(0, 2), ['GET /exec/JOB/stream', 'GET /exec/JOB/stream']);
    assert.deepEqual(lines.slice(0, 2), ['a', 'b']);
    assert.equal(lines.filter((line) => line === 'a').length, 1);
    assert.ok(end.kind === 'no_status' || end.kind === 'lost');
  });

  test('C23 503, 502 and 429 are temporary, 404 is a lost job, and 401 is fatal', async () => {
    const passing = await followed(tenLines, { refusals: [503, 502, 429] });
    assert.deepEqual(passing.end, done);
    assert.equal(passing.away.length, 1, 'the outage is told once');
    const lost = await followed(tenLines, { refusals: [404] });
    assert.deepEqual(lost.end, {
      kind: 'lost',
      message: 'The worker has lost the job (unknown job_id).',
      isForgotten: true,
    });
    const refused = await followed(tenLines, { refusals: [401] });
    assert.equal(refused.end.kind, 'lost');
    assert.equal(refused.streams.length, 1);
  });

  test('C24 many interruptions in one job do no harm', async () => {
    const { end, lines, streams } = await followed(tenLines, { cutAfter: 1 });
    assert.deepEqual(end, done);
    assert.deepEqual(lines, ten);
    assert.equal(streams.length, 11);
  });

  test('C25 a runtime that does not even send headers is retried for longer than failed connections are', async () => {
    const own = { quietMs: 60, giveUpMs: 100 };
    const { end, lines, streams } = await followed(tenLines, { quietStreams: { left: 5 } }, own);
    assert.deepEqual(end, done);
    assert.deepEqual(lines, ten);
    // On a busy machine an answer can be late, too.
    assert.ok(streams.length >= 6, `${streams.length} streams`);
  });

  test('C27 events without a stream, with done:false and with other fields are lines', async () => {
    const oddEvents = [
      { line: 'no stream' },
      { line: 'not done', stream: 'stdout', done: false },
      { line: 'more', stream: 'stderr', level: 3, tags: ['x'] },
    ];
    const { end, lines, gaps } = await followed(tenLines, { oddEvents });
    assert.deepEqual(end, done);
    assert.deepEqual(lines, ['no stream', 'not done', 'more', ...ten]);
    assert.deepEqual(gaps, []);
  });

  test("C28 Drover Code's JSON lines arrive unchanged and are read as tools and usage, and everything else is raw", async () => {
    const printed = [
      { type: 'tool_start', id: '1', name: 'bash', input_summary: 'ls' },
      { type: 'heartbeat' },
      { type: 'tool_done', id: '1', name: 'bash', output_summary: 'a <b> & c' },
      { type: 'usage', total_input_tokens: 3, total_output_tokens: 2 },
    ].map((event) => `'${JSON.stringify(event)}'`);
    const { lines } = await followed(`printf '%s\\n' ${printed.join(' ')} 'plain {text'`, {});
    const translator = new HeadlessTranslator(noUsage);
    const events = lines.flatMap((line) => translator.take(line));
    assert.deepEqual(
      events.map(({ type }) => type),
      ['tool_call', 'tool_result', 'usage', 'output'],
    );
    assert.ok(events.some((event) => event.type === 'tool_result' && event.text === 'a <b> & c'));
  });

  test('C26 long data, multi-line data, comments, retry and CRLF are parsed', () => {
    const parser = new EventParser();
    const long = 'x'.repeat(900 * 1024);
    const text = `: hello\r\nretry: 5\r\n\r\nid: 7\r\ndata: ${long}\r\n\r\ndata: a\ndata: b\n\nid: 9\n`;
    const bytes = Buffer.from(text);
    const events = [];
    for (let at = 0; at < bytes.length; at += 7_919) {
      events.push(...parser.push(bytes.subarray(at, at + 7_919)));
    }
    assert.deepEqual(events, [
      { id: '7', data: long },
      { id: null, data: 'a\nb' },
    ]);
  });

  test('an event that is split anywhere, even within CRLF, is read completely', () => {
    const bytes = Buffer.from('id: 1\r\ndata: ä\r\n\r\nid: 2\r\ndata: b\r\n\r\n');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const parser = new EventParser();
      const events = [...parser.push(bytes.subarray(0, cut)), ...parser.push(bytes.subarray(cut))];
      assert.deepEqual(events, [
        { id: '1', data: 'ä' },
        { id: '2', data: 'b' },
      ]);
    }
  });
});
