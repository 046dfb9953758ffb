// The output of the real `codex exec --json` (0.166.0) against a model API on loopback, as events
// and outcomes.

import assert from 'node:assert/strict';
import { codexArguments } from '../../../server/agents/codex/one-way.ts';
import { CodexReader } from '../../../server/agents/codex/reader.ts';
import { noUsage, type AgentOutcome, type AgentRequest } from '../../../server/agents/port.ts';
import type { AgentEvent } from '../../../server/protocol/agent-events.ts';

const request = { timeoutMs: 60_000 } as AgentRequest;
const end = {
  why: 'exited',
  exit: { code: 0, signal: null },
  stderrTail: '',
  silentMs: 0,
} as const;

function read(
  lines: readonly object[],
  code = 0,
): {
  readonly events: readonly AgentEvent[];
  readonly ends: readonly string[];
  readonly outcome: AgentOutcome;
} {
  const reader = new CodexReader(request, null, { ...noUsage, inputTokens: 5 });
  const taken = lines.map((line) => reader.take(JSON.stringify(line)));
  return {
    events: taken.flatMap(({ events }) => events),
    ends: taken.flatMap(({ end: own }) => own ?? []),
    outcome: reader.outcome({ ...end, exit: { code, signal: null } }),
  };
}

const started = [{ type: 'thread.started', thread_id: '01a2' }, { type: 'turn.started' }];
const item = (type: string, fields: object): object => ({ id: 'item_0', type, ...fields });
const failedWith = (message: string): AgentOutcome =>
  read([...started, { type: 'turn.failed', error: { message } }], 1).outcome;

suite('lines of codex exec', () => {
  test('a turn has a command, a file change, a message and usage', () => {
    const command = { command: "/bin/bash -lc 'ls'", aggregated_output: '', exit_code: null };
    const { events, outcome } = read([
      ...started,
      {
        type: 'item.started',
        item: item('command_execution', { ...command, status: 'in_progress' }),
      },
      {
        type: 'item.completed',
        item: item('command_execution', {
          ...command,
          aggregated_output: 'a\n',
          exit_code: 0,
          status: 'completed',
        }),
      },
      {
        type: 'item.completed',
        item: {
          id: 'item_1',
          type: 'file_change',
          changes: [{ path: '/w/a', kind: 'add' }],
          status: 'completed',
        },
      },
      { type: 'item.completed', item: { id: 'item_2', type: 'agent_message', text: 'Done.' } },
      {
        type: 'turn.completed',
        usage: { input_tokens: 900, cached_input_tokens: 500, output_tokens: 33 },
      },
    ]);
    assert.deepEqual(
      events.map((event) => (event.type === 'tool_call' ? event.title : event.type)),
      [
        'started',
        "shell /bin/bash -lc 'ls'",
        'tool_result',
        'patch add /w/a',
        'tool_result',
        'text',
        'usage',
      ],
    );
    const usage = { inputTokens: 405, outputTokens: 33, cacheReadTokens: 500, costUsd: null };
    assert.deepEqual(events.at(-1), { type: 'usage', usage });
    assert.deepEqual(outcome, { kind: 'done', summary: 'Done.', deniedTools: [] });
  });

  test('a rejected key ends it at the first retry, and limits, overloads and crashes are distinguished', () => {
    const message =
      'Reconnecting... 2/5 (unexpected status 401 Unauthorized: bad key, url: http://x)';
    assert.deepEqual(read([...started, { type: 'error', message }]).ends, ['auth']);
    const kinds = [
      'unexpected status 401 Unauthorized: bad key',
      'unexpected status 529 : overloaded',
      'stream disconnected before completion',
      'the model does not exist',
    ].map((words) => {
      const outcome = failedWith(words);
      return outcome.kind === 'failed' ? outcome.failure.kind : outcome.kind;
    });
    assert.deepEqual(kinds, ['agent_auth', 'agent_overloaded', 'agent_overloaded', 'agent_failed']);
    assert.equal(failedWith("You've hit your usage limit.").kind, 'limited');
    const dead = read(started, 137).outcome;
    assert.ok(
      dead.kind === 'failed' && /exit code 137 without a result/.test(dead.failure.message),
    );
    // A success without its last event does not count.
    assert.equal(read(started, 0).outcome.kind, 'failed');
  });

  test('a planning agent may only read, and the prompt is never an argument', () => {
    const settings = { kind: 'codex', path: null, args: [], env: {}, model: 'm' } as const;
    const planning = codexArguments({ ...settings, permissionMode: 'bypassPermissions' }, true);
    assert.ok(planning.join(' ').includes('--sandbox read-only --model m -'));
    const free = codexArguments({ ...settings, permissionMode: 'bypassPermissions' }, false);
    assert.ok(free.includes('--dangerously-bypass-approvals-and-sandbox'));
    assert.ok(
      codexArguments({ ...settings, permissionMode: null }, false).includes('workspace-write'),
    );
  });
});
