// A double of the amp binary, from its documented wire format: execute mode with stream-json,
// threads that can be continued while they are not archived, and its own ways of refusing to start.
// Its behavior is in a file: one script per process of a task, where the last one applies to all
// later processes and `{{task}}` is replaced with the task's id. Arguments: a folder (it reads
// script.json there, and writes calls.ndjson and threads.json), then the binary's own arguments.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, fstatSync, readFileSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

export type AmpStep =
  | { readonly do: 'text'; readonly text: string; readonly stop?: 'end_turn' | 'tool_use' }
  | { readonly do: 'think'; readonly text: string }
  | { readonly do: 'call'; readonly id: string; readonly name: string; readonly input: object }
  | {
      readonly do: 'answer';
      readonly id: string;
      readonly text: string;
      readonly isError?: boolean;
    }
  | { readonly do: 'write'; readonly path: string; readonly text: string }
  | { readonly do: 'print'; readonly text: string }
  | { readonly do: 'stderr'; readonly text: string }
  | { readonly do: 'repeat'; readonly count: number; readonly text: string }
  /** A command that leaves the group and ignores SIGTERM. */
  | { readonly do: 'child' }
  | { readonly do: 'ignore-term' }
  /** Continues as soon as the file exists. */
  | { readonly do: 'await'; readonly path: string }
  | { readonly do: 'die' }
  | { readonly do: 'sleep' };

export interface AmpScript {
  /** It does not start at all. */
  readonly refuses?: string;
  readonly steps?: readonly AmpStep[];
  /** `silent` ends without a result line; any other value is the text of an error. */
  readonly error?: string;
  readonly subtype?: string;
  readonly silent?: boolean;
  readonly denials?: readonly string[];
  readonly exit?: number;
  /** It stays alive after its result. */
  readonly lingers?: boolean;
}

export interface AmpCall {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly prompt: string;
  readonly tools: unknown;
}

const usage = {
  input_tokens: 10,
  cache_creation_input_tokens: 3,
  cache_read_input_tokens: 5,
  output_tokens: 2,
  max_tokens: 224_000,
};

const [folder = '', ...argv] = process.argv.slice(2);
const at = (name: string): string => join(folder, name);
const startedAt = Date.now();
let turns = 0;
let answer = '';

function readJson<T>(path: string, otherwise: T): T {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as T) : otherwise;
}

function refuse(text: string): never {
  process.stderr.write(`Error: ${text}\n`);
  process.exit(1);
}

function flag(name: string): string | undefined {
  const index = argv.indexOf(name);
  return index < 0 ? undefined : argv[index + 1];
}

/** The messages of a thread so far; an archived thread is read-only. */
type Threads = Record<string, { archived: boolean; messages: string[] }>;

function openThread(prompt: string): string {
  const threads = readJson<Threads>(at('threads.json'), {});
  const wanted = argv[0] === 'threads' && argv[1] === 'continue' ? argv[2] : undefined;
  const id = wanted ?? `T-${randomUUID()}`;
  if (wanted !== undefined && threads[wanted] === undefined) refuse('Thread not found');
  const thread = (threads[id] ??= { archived: false, messages: [] });
  if (thread.archived) refuse('This thread is archived and cannot be continued.');
  thread.archived = !argv.includes('--no-archive-after-execute');
  thread.messages.push(prompt);
  writeFileSync(at('threads.json'), JSON.stringify(threads));
  return id;
}

/**
 * Treats a whole line of its input as the code; without one, it waits, even at the end of its
 * input.
 */
async function login(prompt: string): Promise<never> {
  process.stdout.write('No API key found. Starting login flow...\n');
  process.stdout.write('https://login.invalid/auth?authToken=login-token-1234\n');
  process.stdout.write('When prompted, paste your code here: ');
  while (!prompt.includes('\n')) await delay(60_000);
  process.stderr.write('Login failed: That code looks incomplete.\n');
  process.exit(1);
}

async function readPrompt(): Promise<string> {
  const prompt = fstatSync(0).isCharacterDevice() ? '' : readFileSync(0, 'utf8');
  if (process.env['AMP_API_KEY'] === undefined) await login(prompt);
  if (prompt.trim() === '') {
    refuse('User message must be provided through stdin or as argument when using execute mode');
  }
  return prompt;
}

function say(thread: string, line: object): void {
  process.stdout.write(`${JSON.stringify({ ...line, session_id: thread })}\n`);
}

function sayAssistant(thread: string, block: object, stop: string): void {
  turns += 1;
  const message = {
    type: 'message',
    role: 'assistant',
    content: [block],
    stop_reason: stop,
    usage,
  };
  say(thread, { type: 'assistant', message, parent_tool_use_id: null });
}

function sayUser(thread: string, block: object): void {
  const message = { role: 'user', content: [block] };
  say(thread, { type: 'user', message, parent_tool_use_id: null });
}

function sayResult(thread: string, script: AmpScript): void {
  const base = { type: 'result', duration_ms: Date.now() - startedAt, num_turns: turns };
  const denied = script.denials === undefined ? {} : { permission_denials: script.denials };
  const { error } = script;
  const subtype = script.subtype ?? (error === undefined ? 'success' : 'error_during_execution');
  const end = error === undefined ? { result: answer } : { error };
  say(thread, { ...base, subtype, is_error: error !== undefined, ...end, ...denied });
}

async function play(step: AmpStep, thread: string): Promise<void> {
  switch (step.do) {
    case 'text':
      answer = step.text;
      sayAssistant(thread, { type: 'text', text: step.text }, step.stop ?? 'end_turn');
      return;
    case 'think':
      if (!argv.includes('--stream-json-thinking')) return;
      sayAssistant(thread, { type: 'thinking', thinking: step.text }, 'tool_use');
      return;
    case 'call': {
      const { id, name, input } = step;
      sayAssistant(thread, { type: 'tool_use', id, name, input }, 'tool_use');
      return;
    }
    case 'answer': {
      const { id, text, isError } = step;
      const result = { tool_use_id: id, content: text, is_error: isError ?? false };
      sayUser(thread, { type: 'tool_result', ...result });
      return;
    }
    case 'write':
      writeFileSync(isAbsolute(step.path) ? step.path : join(process.cwd(), step.path), step.text);
      return;
    case 'print':
      process.stdout.write(step.text);
      return;
    case 'stderr':
      process.stderr.write(step.text);
      return;
    case 'repeat':
      for (let count = 0; count < step.count; count += 1) {
        sayAssistant(thread, { type: 'text', text: `${step.text} ${count}` }, 'tool_use');
        if (count % 50 === 49) await delay(5);
      }
      return;
    case 'child':
      spawn('/bin/sh', ['-c', 'trap : TERM; sleep 600; sleep 600'], {
        detached: true,
        stdio: 'ignore',
      }).unref();
      return;
    case 'ignore-term':
      process.removeAllListeners('SIGTERM');
      process.on('SIGTERM', () => undefined);
      return;
    case 'await':
      while (!existsSync(step.path)) await delay(10);
      return;
    case 'die':
      process.kill(process.pid, 'SIGKILL');
      return;
    case 'sleep':
      await new Promise((resolve) => setTimeout(resolve, 600_000));
      return;
  }
}

function scriptOf(task: string): AmpScript {
  if (!existsSync(at('script.json'))) return {};
  const text = readFileSync(at('script.json'), 'utf8').replaceAll('{{task}}', task);
  const scripts = JSON.parse(text) as readonly AmpScript[];
  const calls = readFileSync(at('calls.ndjson'), 'utf8').trim().split('\n');
  const mine = calls.filter(
    (line) => (JSON.parse(line) as AmpCall).env['DROVER_TASK_ID'] === task,
  ).length;
  return scripts[Math.min(mine, scripts.length) - 1] ?? {};
}

async function execute(): Promise<number> {
  const prompt = await readPrompt();
  const toolsPath = flag('--mcp-config');
  const tools = toolsPath === undefined ? null : readJson<unknown>(toolsPath, null);
  const call = { argv, env: process.env, cwd: process.cwd(), prompt, tools };
  appendFileSync(at('calls.ndjson'), `${JSON.stringify(call)}\n`);
  const script = scriptOf(process.env['DROVER_TASK_ID'] ?? '');
  if (script.refuses !== undefined) refuse(script.refuses);
  const thread = openThread(prompt);
  process.once('SIGTERM', () => {
    sayResult(thread, { error: 'User cancelled (SIGINT/SIGTERM)' });
    process.exit(1);
  });
  const init = { tools: ['Bash', 'edit_file'], mcp_servers: [], agent_mode: flag('--mode') };
  say(thread, { type: 'system', subtype: 'init', cwd: process.cwd(), ...init });
  sayUser(thread, { type: 'text', text: prompt });
  for (const step of script.steps ?? []) await play(step, thread);
  if (script.silent !== true) sayResult(thread, script);
  if (script.lingers === true) await play({ do: 'sleep' }, thread);
  return script.exit ?? (script.error === undefined ? 0 : 1);
}

if (argv[0] === '--version') {
  process.stdout.write('0.0.1790142911-g7618fb (released 2026-09-23T05:55:11.000Z, 1mo ago)\n');
} else {
  process.exitCode = await execute();
}
