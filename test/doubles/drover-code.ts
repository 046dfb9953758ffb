// A conformance double of the drover-code binary, from its documented wire formats: headless by
// flags, by an environment variable, or because its input is not a terminal; the bridge only if its
// own switch enables pipes. Its script is a separate file. Arguments: a folder (it reads
// script.json there, and writes calls.ndjson), then the binary's own arguments.

import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  fstatSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type DoubleStep =
  | { readonly do: 'print'; readonly text: string }
  | { readonly do: 'stderr'; readonly text: string }
  | { readonly do: 'repeat'; readonly count: number; readonly text: string }
  | { readonly do: 'write'; readonly path: string; readonly text: string }
  | { readonly do: 'ignore-term' }
  | { readonly do: 'child' }
  /**
   * Like its shell tool, it finds the program through the given path. Its output goes to standard
   * error.
   */
  | { readonly do: 'run'; readonly program: string; readonly args: readonly string[] }
  /** Continues as soon as the file exists. */
  | { readonly do: 'await'; readonly path: string }
  | { readonly do: 'sleep' };

export interface DoubleScript {
  readonly steps?: readonly DoubleStep[];
  readonly exit?: number;
  /** If null, no result file is written. */
  readonly result?: Readonly<Record<string, unknown>> | null;
  readonly bridge?: 'stock' | 'no-execute' | 'error' | 'hang' | 'crash' | 'deltas' | 'silent';
}

export interface DoubleCall {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly mode: 'headless' | 'bridge';
  readonly stdinIsCharacterDevice: boolean;
  readonly promptBase64: string | null;
  readonly resultExisted: boolean;
  /** The input from stdin; recorded when it is read. */
  readonly input?: string;
}

const [folder = '', ...argv] = process.argv.slice(2);
const scriptPath = join(folder, 'script.json');
const script: DoubleScript = existsSync(scriptPath)
  ? (JSON.parse(readFileSync(scriptPath, 'utf8')) as DoubleScript)
  : {};
const isTruthy = (name: string): boolean =>
  /^(1|true|yes|on|y)$/i.test(process.env[name]?.trim() ?? '');
const flag = (name: string): string | undefined => {
  const index = argv.indexOf(name);
  return index < 0 ? undefined : argv[index + 1];
};
const stdinIsCharacterDevice = fstatSync(0).isCharacterDevice();
const promptFile = flag('--prompt-file');
const resultFile = flag('--result-json') ?? process.env['DROVER_CODE_RESULT_PATH'];

function record(more: Partial<DoubleCall>): void {
  const call = {
    argv,
    env: process.env,
    cwd: process.cwd(),
    stdinIsCharacterDevice,
    resultExisted: resultFile !== undefined && existsSync(resultFile),
    promptBase64: promptFile === undefined ? null : readFileSync(promptFile).toString('base64'),
    ...more,
  };
  appendFileSync(join(folder, 'calls.ndjson'), `${JSON.stringify(call)}\n`);
}

function exitNow(code: number): never {
  process.exit(code);
}

function printEvent(type: string, fields: Readonly<Record<string, unknown>>): void {
  const ts = new Date().toISOString();
  process.stdout.write(`${JSON.stringify({ ...fields, ts, type })}\n`);
}

function writeResult(result: Readonly<Record<string, unknown>>): void {
  if (resultFile === undefined) return;
  writeFileSync(`${resultFile}.tmp`, JSON.stringify(result, null, 2), { mode: 0o600 });
  renameSync(`${resultFile}.tmp`, resultFile);
}

async function printAll(text: string): Promise<void> {
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
}

async function playStep(step: DoubleStep): Promise<void> {
  switch (step.do) {
    case 'print':
      await printAll(step.text);
      break;
    case 'stderr':
      process.stderr.write(step.text);
      break;
    case 'repeat':
      for (let n = 0; n < step.count; n += 1000) {
        await printAll(step.text.repeat(Math.min(1000, step.count - n)));
      }
      break;
    case 'write':
      writeFileSync(step.path, step.text);
      break;
    case 'ignore-term':
      process.removeAllListeners('SIGTERM');
      process.on('SIGTERM', () => undefined);
      break;
    case 'child':
      spawn('/bin/sh', ['-c', 'trap "" TERM; sleep 600; sleep 600'], { stdio: 'ignore' });
      break;
    case 'run': {
      const { program, args } = step;
      const told = spawnSync(program, [...args], { encoding: 'utf8' });
      process.stderr.write(`${program}: ${told.status} ${told.stdout}${told.stderr}`);
      break;
    }
    case 'await':
      while (!existsSync(step.path)) await new Promise((resolve) => setTimeout(resolve, 20));
      break;
    case 'sleep':
      await new Promise((resolve) => setTimeout(resolve, 600_000));
  }
}

async function headless(): Promise<void> {
  // A signal ends it with code 1, possibly with a result file that says "ok".
  process.on('SIGTERM', () => {
    writeResult({ schema_version: 1, ok: true });
    exitNow(1);
  });
  if (flag('--prompt') === undefined && promptFile === undefined) {
    let input = '';
    for await (const line of createInterface({ input: process.stdin })) {
      input += `${line}\n`;
      record({ mode: 'headless', input });
      // The model cannot be reached, so the first line fails the run.
      printEvent('error', { message: 'connection refused' });
      exitNow(5);
    }
    exitNow(0);
  }
  record({ mode: 'headless' });
  for (const step of script.steps ?? []) await playStep(step);
  if (script.result !== null) writeResult(script.result ?? { schema_version: 1, ok: true });
  exitNow(script.exit ?? 0);
}

interface Request {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly input?: string };
}

function send(message: object): void {
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
  process.stdout.write(`Content-Length: ${body.length}\r\n\r\n`);
  process.stdout.write(body);
}

function answer(request: Request): void {
  const { id, method } = request;
  if (id === undefined) return;
  if (script.bridge === 'silent') return;
  switch (method) {
    case 'initialize': {
      const execute = script.bridge !== 'no-execute';
      const serverInfo = { name: 'drover-code', version: '0.1.0' };
      send({ id, result: { capabilities: { execute, streamTokens: true }, serverInfo } });
      break;
    }
    case 'ping':
      send({ id, result: 'pong' });
      break;
    case 'drover/execute':
      execute(id, request.params?.input ?? '');
      break;
    default:
      send({ id, error: { code: -32_601, message: `method not found: ${method ?? ''}` } });
  }
}

function execute(id: number, input: string): void {
  record({ mode: 'bridge', input });
  switch (script.bridge) {
    case 'error':
      send({ id, error: { code: -32_603, message: 'api error 400: bad request' } });
      break;
    case 'hang':
      process.stderr.write('working\n');
      break;
    case 'crash':
      process.stderr.write(`it broke with ${process.env['ANTHROPIC_API_KEY'] ?? ''}\n`, () =>
        exitNow(0),
      );
      break;
    case 'deltas':
      send({ method: 'drover/textDelta', params: { text: 'first ' } });
      send({ id, result: { output: 'first second' } });
      break;
    default:
      send({ id, result: { output: `did: ${input}` } });
  }
}

function bridge(): void {
  let rest = Buffer.alloc(0);
  process.stdin.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.indexOf('\r\n\r\n');
      const length = Number(/^Content-Length: (\d+)/.exec(rest.toString('latin1', 0, 64))?.[1]);
      if (end < 0 || rest.length < end + 4 + length) return;
      const body = rest.toString('utf8', end + 4, end + 4 + length);
      rest = Buffer.from(rest.subarray(end + 4 + length));
      answer(JSON.parse(body) as Request);
    }
  });
  process.stdin.on('end', () => exitNow(0));
}

function main(): void {
  if (argv[0] === 'commands') {
    process.stdout.write('Usage: drover-code commands <init|list>\n');
    exitNow(0);
  }
  if ((process.env['ANTHROPIC_API_KEY'] ?? process.env['ANTHROPIC_AUTH_TOKEN'] ?? '') === '') {
    process.stderr.write('error: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN\n', () =>
      exitNow(2),
    );
    return;
  }
  const pipesReachBridge = isTruthy('DOUBLE_BRIDGE_OVER_PIPES');
  const isHeadless =
    isTruthy('DROVER_CODE_HEADLESS') ||
    argv.some((one) => one === '--headless' || one.startsWith('--prompt')) ||
    (!stdinIsCharacterDevice && !pipesReachBridge);
  if (isHeadless) void headless();
  else if (isTruthy('DROVER_CODE_IDE_BRIDGE')) bridge();
  else exitNow(1);
}

main();
