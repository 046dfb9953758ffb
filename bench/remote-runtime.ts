// The shipped worker runtime, driven by Drover's own client: a flood of lines, and the upload and
// download of a large tree, compared with `tar` and a socket.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { followJob } from '../server/workers/client/follow-job.ts';
import { packUpload } from '../server/workers/client/pack.ts';
import { resultCaps, unpackResult } from '../server/workers/client/unpack.ts';
import { planUpload } from '../server/workers/client/upload-plan.ts';
import { openDownload, startJob, uploadWorkspace } from '../server/workers/client/worker-calls.ts';
import type { Bench } from './bench.ts';
import { median, short, type Figure } from './figures.ts';
import { ownUse } from './process-use.ts';

const token = 'a-token-of-the-bench';
const never = new AbortController().signal;

interface Runtime {
  readonly name: string;
  readonly id: string;
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  readonly folder: string;
  end(): Promise<void>;
}

async function startRuntime(bench: Bench): Promise<Runtime> {
  const folder = mkdtempSync(join(bench.folder, 'runtime-'));
  const args = ['--listen', '127.0.0.1:0', '--workspace', join(folder, 'workspace'), '--json'];
  const child = spawn(process.execPath, [bench.programs.pathOf('worker-runtime'), ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, TMPDIR: folder, AGENT_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { url } = JSON.parse(line) as { url: string };
  const end = async (): Promise<void> => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { name: 'bench', id: 'bench', url, token, pid: child.pid ?? 0, folder, end };
}

export async function benchLines(bench: Bench): Promise<Figure[]> {
  const lines = bench.options.brief ? 20_000 : 1_000_000;
  bench.say(`remote: ${lines} lines through the stream of a runtime`);
  const runtime = await startRuntime(bench);
  try {
    let largestMb = 0;
    const watch = setInterval(() => {
      largestMb = Math.max(largestMb, ownUse(runtime.pid).rssMb);
    }, 50);
    let seen = 0;
    let wrong = 0;
    const output = {
      onLine: (_stream: string, line: string): void => {
        if (!line.startsWith(`line ${seen} `)) wrong += 1;
        seen += 1;
      },
      onGap: (): void => {
        wrong += 1;
      },
      onAway: (): void => {},
    };
    const startedMs = performance.now();
    const print = `for (i = 0; i < ${lines}; i++) print "line " i " of an agent that tells all it does"`;
    const job = await startJob(runtime, `awk 'BEGIN { ${print} }'`, never);
    if (!job.ok) throw new Error(job.error);
    const ended = await followJob(runtime, job.value, output, never);
    const tookMs = performance.now() - startedMs;
    clearInterval(watch);
    if (ended.kind !== 'done') throw new Error(`the job ended as ${ended.kind}`);
    return [
      {
        part: 'remote',
        what: 'lines in a second from a runtime to its client',
        value: lines / (tookMs / 1000),
        unit: '/s',
        target: { atLeast: 50_000 },
        detail: `${lines} lines in ${short(tookMs / 1000)} s`,
      },
      {
        part: 'remote',
        what: 'lines lost or out of order',
        value: wrong + Math.abs(lines - seen),
        unit: '',
        target: { atMost: 0 },
      },
      {
        part: 'remote',
        what: 'largest resident memory of the runtime meanwhile',
        value: largestMb,
        unit: 'MB',
        target: { atMost: 100 },
      },
    ];
  } finally {
    await runtime.end();
  }
}

export async function benchTransfer(bench: Bench): Promise<Figure[]> {
  const files = bench.options.brief ? 200 : 10_000;
  const pairs = bench.options.brief ? 1 : bench.options.pairs;
  bench.say(`remote: ${files} files up and down, ${pairs} pairs`);
  const tree = treeOf(bench.folder, files);
  const there = mkdtempSync(join(bench.folder, 'there-'));
  const runtime = await startRuntime(bench);
  const ratios = { up: [] as number[], down: [] as number[] };
  const times = { up: [] as number[], down: [] as number[], tar: [] as number[] };
  try {
    for (let pair = 0; pair < pairs; pair += 1) {
      const tar = async (): Promise<number> => await timed(() => byTar(tree.folder, fresh(there)));
      const ours = async () => ({
        up: await timed(() => upload(runtime, tree)),
        down: await timed(() => download(runtime, fresh(there), files)),
      });
      const before = pair % 2 === 0 ? await tar() : null;
      const own = await ours();
      const base = before ?? (await tar());
      for (const way of ['up', 'down'] as const) {
        ratios[way].push(own[way] / base);
        times[way].push(own[way]);
      }
      times.tar.push(base);
    }
  } finally {
    await runtime.end();
    rmSync(there, { recursive: true, force: true });
  }
  const figure = (way: 'up' | 'down', what: string): Figure => ({
    part: 'remote',
    what: `${what} of ${files} files against tar, gzip and a socket`,
    value: median(ratios[way]),
    unit: '×',
    target: { atMost: 1.3 },
    detail: `${short(median(times[way]))} ms against ${short(median(times.tar))} ms; ${ratios[way].map(short).join(', ')}`,
  });
  return [figure('up', 'upload'), figure('down', 'download')];
}

async function timed(act: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await act();
  return performance.now() - startedMs;
}

interface Tree {
  readonly folder: string;
  readonly paths: readonly string[];
}

const fileBytes = 10_000;
const words = 'const return value of a function that is called when tests have passed'.split(' ');

/** Creates files that compress about as well as source code, once. */
function treeOf(parent: string, files: number): Tree {
  const folder = join(parent, `tree-${files}`);
  const paths = Array.from({ length: files }, (_, n) => `d${Math.floor(n / 100)}/f${n}.txt`);
  if (existsSync(folder)) return { folder, paths };
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  let state = 1;
  const next = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (const [at, path] of paths.entries()) {
    if (at % 100 === 0) mkdirSync(join(unfinished, `d${at / 100}`), { recursive: true });
    let text = '';
    while (text.length < fileBytes) {
      text += `${words[next(words.length)]}${next(3) === 0 ? next(100_000) : ''}${next(8) === 0 ? '\n' : ' '}`;
    }
    writeFileSync(join(unfinished, path), text.slice(0, fileBytes));
  }
  renameSync(unfinished, folder);
  return { folder, paths };
}

function fresh(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  return folder;
}

async function upload(runtime: Runtime, { folder, paths }: Tree): Promise<void> {
  const none = { untracked: [], droverIgnored: new Set<string>(), submodules: [] };
  const plan = planUpload(folder, { ...none, tracked: paths });
  if (!plan.ok) throw new Error(plan.error);
  const packed = packUpload(plan.value, []);
  const problem = await uploadWorkspace(runtime, packed.body, never);
  if (problem !== null) throw new Error(problem);
  await packed.sent;
}

async function download(runtime: Runtime, into: string, files: number): Promise<void> {
  const archive = await openDownload(runtime, never);
  if (!archive.ok) throw new Error(archive.error.message);
  const result = await unpackResult(archive.value, into, resultCaps);
  if (!result.ok) throw new Error(result.error);
  if (result.value.files.size !== files) throw new Error(`${result.value.files.size} files came`);
}

/** Uses the fastest compression on this side too, and runs each program in a separate process. */
async function byTar(from: string, into: string): Promise<void> {
  const server = createServer({ pauseOnConnect: false });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const unpacked = once(server, 'connection').then(async ([socket]) => {
    await piped(socket as Readable, `gzip -d | tar -xf - -C '${into}'`, null);
  });
  const socket = createConnection((server.address() as AddressInfo).port, '127.0.0.1');
  await piped(null, `tar -cf - -C '${from}' . | gzip -1`, socket);
  await unpacked;
  server.close();
}

async function piped(
  input: Readable | null,
  command: string,
  output: Writable | null,
): Promise<void> {
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  if (input === null) child.stdin.end();
  else await pipeline(input, child.stdin);
  if (output !== null) await pipeline(child.stdout, output);
  else child.stdout.resume();
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
}
