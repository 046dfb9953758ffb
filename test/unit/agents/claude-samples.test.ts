// Claude Code's real output (recorded) and what Drover reads from it: the outcome, the events and
// the usage.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { claudeOutcome, type EndFacts } from '../../../server/agents/claude/outcome.ts';
import { Translator, type Notice } from '../../../server/agents/claude/translate.ts';
import { parseLine } from '../../../server/agents/kit/wire/json-line.ts';
import { noUsage, type AgentOutcome } from '../../../server/agents/port.ts';
import type { AgentEvent } from '../../../server/protocol/agent-events.ts';

interface Played {
  readonly translator: Translator;
  readonly notices: readonly Notice[];
  readonly events: readonly AgentEvent[];
}

function play(name: string): Played {
  const file = new URL(`../../fixtures/agents/claude-${name}.jsonl`, import.meta.url);
  const translator = new Translator({
    cwd: '/repo',
    sessionId: 's',
    resumed: false,
    usageBefore: noUsage,
  });
  const notices = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('> '))
    .flatMap((line) => {
      const parsed = parseLine(line);
      assert.ok(parsed !== null, line);
      return translator.take(parsed);
    });
  const events = notices.flatMap((notice) => (notice.kind === 'event' ? [notice.event] : []));
  return { translator, notices, events };
}

function outcome(name: string, exitCode: number, end: Partial<EndFacts> = {}): AgentOutcome {
  return claudeOutcome(play(name).translator.facts, {
    why: 'exited',
    exit: { code: exitCode, signal: null },
    stderrTail: '',
    timeoutMs: null,
    silentMs: 0,
    limitUntilMs: null,
    ...end,
  });
}

function checkFailed(name: string, exitCode: number, kind: string, message: RegExp): void {
  const result = outcome(name, exitCode);
  assert.ok(result.kind === 'failed', `${name}: ${result.kind}`);
  assert.equal(result.failure.kind, kind);
  assert.match(result.failure.message, message);
}

function checkDone(name: string, summary: string | RegExp, ...deniedTools: string[]): void {
  const result = outcome(name, 0);
  assert.ok(result.kind === 'done', `${name}: ${result.kind}`);
  assert.deepEqual(result.deniedTools, deniedTools);
  if (typeof summary === 'string') assert.equal(result.summary, summary);
  else assert.match(result.summary, summary);
}

const typesOf = (name: string): string[] => play(name).events.map((event) => event.type);

suite('recorded Claude Code runs', () => {
  test('successful runs are recognized', () => {
    checkDone('happy', 'Done: hello.txt was written.');
    checkDone('partial-messages', 'Done: hello.txt was written.');
    checkDone('429-retried', 'ok then');
    checkDone('resume-after-sigkill', 'resumed fine');
    checkDone('json-schema', '{"tasks":["a"]}');
    checkDone('subagent', /^main done/);
    checkDone('control-permission', 'Done: 1\n2\n3\n4\n5\n6');
    checkDone('control-interrupt', 'answer to NEXT');
    checkDone('control-question', /answer was: .*postgres/);
    checkDone('control-hint', 'after: second');
    checkDone('permission-denied', 'Done: hello.txt was written.', 'Write');
  });

  test('failed runs are recognized, whatever their exit code and subtype', () => {
    checkFailed('529-exhausted', 1, 'agent_overloaded', /529/);
    checkFailed('401-exhausted', 1, 'agent_auth', /\/login/);
    checkFailed('max-turns', 1, 'agent_limit', /turns/);
    checkFailed('sigint', 0, 'agent_failed', /interrupted/);
    checkFailed('sigterm', 143, 'agent_failed', /exit code 143 without a result/);
    checkFailed('control-cancelled-permission', 1, 'agent_failed', /interrupted/);
  });

  test('ends that Drover caused override the output', () => {
    assert.deepEqual(outcome('sigint', 0, { why: 'stopped' }), { kind: 'stopped' });
    const stalled = outcome('sigterm', 143, { why: 'stalled', silentMs: 300_000 });
    assert.equal(stalled.kind === 'failed' && stalled.failure.kind, 'agent_stalled');
    const auth = outcome('401-exhausted', 1, { why: 'auth' });
    assert.equal(auth.kind === 'failed' && auth.failure.kind, 'agent_auth');
    const limited = outcome('sigterm', 143, { why: 'limited', limitUntilMs: 5_000 });
    assert.equal(limited.kind === 'limited' && limited.untilMs, 5_000);
  });

  test('without a result, stderr explains the reason', () => {
    const refused = outcome('sigterm', 1, { stderrTail: 'first\nbad flag\n' });
    assert.ok(refused.kind === 'failed');
    assert.match(refused.failure.message, /exit code 1 without a result: bad flag$/);
    assert.equal(refused.failure.detail, 'first\nbad flag\n');
  });

  test('a successful run gives its events', () => {
    const { events } = play('happy');
    assert.deepEqual(
      events.map((event) => (event.type === 'tool_call' ? event.title : event.type)),
      [
        'started',
        'text',
        'Write hello.txt',
        'tool_result',
        'text',
        'Bash git status --porcelain',
        'tool_result',
        'text',
        'usage',
      ],
    );
    assert.deepEqual(events.at(-1), {
      type: 'usage',
      usage: {
        inputTokens: 1400,
        outputTokens: 82,
        cacheReadTokens: 800,
        costUsd: 0.0073999999999999995,
      },
    });
    assert.deepEqual(events[0], {
      type: 'started',
      agent: 'claude',
      sessionId: 's',
      resumed: false,
      model: 'claude-opus-5-5',
    });
  });

  test('retries are events, and a repeated stream is shown once', () => {
    assert.deepEqual(
      play('529-exhausted').events.find((event) => event.type === 'retry'),
      { type: 'retry', attempt: 1, delayMs: 529, status: 529, error: 'overloaded' },
    );
    assert.deepEqual(typesOf('partial-messages'), typesOf('happy'));
  });

  test('permission requests, questions, withdrawals and hints are read', () => {
    const kinds = (name: string): string[] =>
      play(name).notices.flatMap((notice) => (notice.kind === 'event' ? [] : [notice.kind]));
    assert.deepEqual(kinds('control-permission'), ['permission', 'permission', 'result']);
    assert.deepEqual(kinds('control-question'), ['permission', 'result']);
    assert.deepEqual(kinds('control-cancelled-permission'), [
      'permission',
      'permission_withdrawn',
      'result',
    ]);
    assert.deepEqual(kinds('control-hint'), [
      'message_state',
      'message_state',
      'message_state',
      'result',
    ]);
  });

  test('the usage of several results is added up in increments', () => {
    const { usage } = play('control-interrupt').translator.facts;
    assert.deepEqual([usage.inputTokens, usage.outputTokens], [300, 60]);
    assert.ok(Math.abs((usage.costUsd ?? 0) - 0.0024) < 1e-9);
  });

  test('a killed run leaves its messages uncounted and its tool open', () => {
    const { facts } = play('sigterm').translator;
    assert.equal(facts.result, null);
    assert.ok(facts.unaccounted.size > 0);
  });
});
