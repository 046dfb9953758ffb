// The demo agent: a scripted program that edits files according to its prompt's directives, without
// a model, a network or cost.

import { execFileSync, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { findDirectives, type Directive } from './directives.ts';
import { resolveConflicts } from './conflicts.ts';
import {
  decodeLine,
  demoStateVariable,
  encodeLine,
  type DemoResult,
  type FromDemo,
  type ToDemo,
} from './wire.ts';

/** The stored state of a session, so that a killed agent continues from there. */
interface SessionState {
  attempt: number;
  /** The task or sub-task. The parts of an attempt share a session. */
  part: string;
  directives: Directive[];
  next: number;
  answer: string;
  /** Number of lines that the current directive has printed. */
  said: number;
}

const stepMs = Number(process.env['DROVER_DEMO_STEP_MS'] ?? '40');
const attempt = Number(process.env['DROVER_ATTEMPT'] ?? '1');
const taskId = process.env['DROVER_TASK_ID'] ?? 'task';
const statePath = process.env[demoStateVariable] ?? null;
const isPlanning = process.env['DROVER_PLANNING'] === '1';
const leftRunningMs = 3_600_000;
/** The code that shells report for a program killed by SIGTERM. */
const endedCode = 143;

const openQuestions = new Map<string, (choice: string | null) => void>();
let state: SessionState = freshState([]);

function say(message: FromDemo): void {
  process.stdout.write(encodeLine(message));
}

function main(): void {
  // At the end of a step: if it were killed between a line and its record, the resumed session
  // would print the line again.
  process.on('SIGTERM', () => process.exit(endedCode));
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    const message = decodeLine<ToDemo>(line);
    if (message === null) return;
    switch (message.type) {
      case 'prompt':
        void work(message.text);
        return;
      case 'answer':
        openQuestions.get(message.requestId)?.(message.choice);
        return;
      case 'hint':
        state.directives.push(...findDirectives(message.text));
        say({ type: 'hint', id: message.id, text: message.text, state: 'delivered' });
        say({ type: 'text', text: `I received: ${message.text}` });
        return;
    }
  });
  // The reader is gone. The next backend starts this session again.
  lines.on('close', () => process.exit(1));
}

async function work(prompt: string): Promise<void> {
  let result: DemoResult;
  try {
    result = await followDirectives(prompt);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    result = { type: 'result', status: 'failed', message };
  }
  process.stdout.write(encodeLine(result), () => process.exit(result.status === 'failed' ? 1 : 0));
}

async function followDirectives(prompt: string): Promise<DemoResult> {
  state = restoreState(findDirectives(prompt, isPlanning ? 'planner' : 'builder'));
  storeState(); // an agent resumed after a pause in the first step only gets the prompt to continue
  const resolved = resolveConflicts(process.cwd());
  if (resolved.length > 0)
    say({ type: 'text', text: `I kept both sides of ${resolved.join(', ')}.` });
  if (state.directives.length === 0 && !isPlanning) await writePlausibleFile(prompt);
  let summary = isPlanning ? plausiblePlan(prompt) : 'The demo agent is done.';
  for (; state.next < state.directives.length;) {
    const directive = state.directives[state.next];
    if (directive === undefined) break;
    await delay(stepMs);
    const end = await follow(directive);
    state.next += 1;
    state.said = 0;
    storeState();
    if (end !== null) return end;
    if (directive.do === 'say') summary = fill(directive.text);
  }
  if (isPlanning) say({ type: 'text', text: summary });
  say({
    type: 'usage',
    usage: { inputTokens: prompt.length, outputTokens: 100, cacheReadTokens: 0, costUsd: null },
  });
  return { type: 'result', status: 'done', summary };
}

/** The same attempt continues after its last step. A new attempt starts with the first one. */
function restoreState(found: Directive[]): SessionState {
  const fresh = freshState(found);
  if (statePath === null || !existsSync(statePath)) return fresh;
  const stored = JSON.parse(readFileSync(statePath, 'utf8')) as SessionState;
  if (stored.part !== taskId) return fresh;
  if (stored.attempt === attempt) return { ...fresh, ...stored };
  return found.length > 0 ? fresh : { ...stored, attempt, next: 0, said: 0 };
}

function freshState(directives: Directive[]): SessionState {
  return { attempt, part: taskId, directives, next: 0, answer: '', said: 0 };
}

/** Uses a rename, because the agent may be killed at any time and half a file would be unusable. */
function storeState(): void {
  if (statePath === null) return;
  mkdirSync(dirname(statePath), { recursive: true });
  const next = `${statePath}.next`;
  writeFileSync(next, JSON.stringify(state));
  renameSync(next, statePath);
}

/** Carries out one directive. A result ends the run. */
async function follow(directive: Directive): Promise<DemoResult | null> {
  switch (directive.do) {
    case 'write':
    case 'append':
    case 'edit-line':
    case 'delete':
      edit(directive);
      return null;
    case 'sleep':
      say({ type: 'text', text: `Sleeping for ${directive.ms} ms.` });
      await delay(directive.ms);
      return null;
    case 'fail':
      if (attempt > directive.times) return null;
      return { type: 'result', status: 'failed', message: `told to fail in attempt ${attempt}` };
    case 'ask':
      await ask(directive.text, directive.choices);
      return null;
    case 'commit':
      commit(fill(directive.message));
      return null;
    case 'say':
      say({ type: 'text', text: fill(directive.text) });
      return null;
    case 'blocked':
      return {
        type: 'result',
        status: 'done',
        summary: directive.text,
        blockedReason: directive.text,
      };
    case 'flood':
      for (let n = 0; n < directive.lines; n++)
        say({ type: 'text', text: `line ${n} of the flood` });
      return null;
    case 'say-until':
      await sayUntil(directive.path, directive.text);
      return null;
    case 'limit': {
      const untilMs = Date.now() + directive.ms;
      return { type: 'result', status: 'limited', untilMs, message: 'told to reach a limit' };
    }
    case 'leave-running':
      spawn(process.execPath, ['-e', `setTimeout(() => {}, ${leftRunningMs})`], {
        detached: true,
        stdio: 'ignore',
      }).unref();
      return null;
    case 'crash':
      state.next += 1; // next time it does not crash here again
      storeState();
      process.kill(process.pid, 'SIGKILL');
      return null;
    case 'nothing':
      return null;
    case 'unknown':
      throw new Error(`the demo agent does not know the directive "${directive.name}"`);
  }
}

type Edit = Extract<Directive, { do: 'write' | 'append' | 'edit-line' | 'delete' }>;

function edit(directive: Edit): void {
  const path = resolve(directive.path);
  const inside = relative(process.cwd(), path);
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) {
    throw new Error(`${directive.path} is not inside the worktree`);
  }
  const id = `demo-${state.next}`;
  const title = `${directive.do} ${directive.path}`;
  say({ type: 'tool_call', id, name: directive.do, title, input: directive });
  mkdirSync(dirname(path), { recursive: true });
  switch (directive.do) {
    case 'write':
      writeFileSync(path, `${fill(directive.text)}\n`);
      break;
    case 'append':
      appendFileSync(path, `${fill(directive.text)}\n`);
      break;
    case 'edit-line': {
      const lines = existsSync(path)
        ? readFileSync(path, 'utf8').replace(/\n$/, '').split('\n')
        : [];
      while (lines.length < directive.line) lines.push('');
      lines[Math.max(0, directive.line - 1)] = fill(directive.text);
      writeFileSync(path, `${lines.join('\n')}\n`);
      break;
    }
    case 'delete':
      rmSync(path, { force: true });
      break;
  }
  say({ type: 'tool_result', id, isError: false, text: 'ok' });
}

/** When resumed, continues after the last printed line. */
async function sayUntil(path: string, text: string): Promise<void> {
  while (!existsSync(path)) {
    say({ type: 'text', text: fill(text).replaceAll('{{n}}', String(state.said)) });
    state.said += 1;
    storeState();
    await delay(stepMs);
  }
}

/** Later directives may use the answer as {{answer}}. */
async function ask(text: string, choices: readonly string[]): Promise<void> {
  const requestId = `demo-question-${attempt}-${state.next}`;
  const answered = new Promise<string | null>((done) => openQuestions.set(requestId, done));
  say({ type: 'question', requestId, kind: 'question', text, choices });
  state.answer = (await answered) ?? '';
  openQuestions.delete(requestId);
  say({ type: 'text', text: `The answer is: ${state.answer}` });
}

function fill(text: string): string {
  return text.replaceAll('{{answer}}', state.answer).replaceAll('{{task}}', taskId);
}

function commit(message: string): void {
  const git = (...args: string[]): void => {
    execFileSync('git', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  };
  git('add', '--all');
  git(
    '-c',
    'user.name=Demo agent',
    '-c',
    'user.email=demo@drover.invalid',
    'commit',
    '-qm',
    message,
  );
}

/** Lists the planned actions, or the feedback on the previous plan. */
function plausiblePlan(prompt: string): string {
  const said = /^A person reviewed it and wrote:\n`+text\n(.*)$/m.exec(prompt)?.[1];
  const title = /^Task: (.*)$/m.exec(prompt)?.[1] ?? taskId;
  const steps = findDirectives(prompt).map((step) =>
    'path' in step ? `${step.do} ${step.path}` : step.do,
  );
  const list = steps.length === 0 ? ['write the files'] : steps;
  return [
    said === undefined ? `# Plan: ${title}` : `# Plan after: ${said}`,
    '',
    ...list.map((step, index) => `${index + 1}. ${step}`),
  ].join('\n');
}

async function writePlausibleFile(prompt: string): Promise<void> {
  const title = /^Task: (.*)$/m.exec(prompt)?.[1] ?? taskId;
  const path = join('demo', `${taskId.replace(/[^A-Za-z0-9._-]/g, '-')}.md`);
  for (const text of ['Reading the task.', 'Looking around.', `Writing ${path}.`]) {
    say({ type: 'text', text });
    await delay(stepMs);
  }
  state.directives.push({
    do: 'write',
    path,
    text: `# ${title}\n\nWritten by the demo agent for ${taskId}, attempt ${attempt}.`,
  });
}

main();
