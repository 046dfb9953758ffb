import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asNeverStarted } from '../../../server/agents/kit/run/never-started.ts';
import { failure } from '../../../server/core/failure.ts';
import type { AgentOutcome } from '../../../server/agents/port.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('agents that never started', () => {
  let folder: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-never-started-'));
  });
  teardown(() => removeFolder(folder));

  const started = { type: 'started', agent: 'command', sessionId: null, resumed: false };
  const stderr = (text: string): object => ({ type: 'output', stream: 'stderr', text });
  const stdout = { type: 'output', stream: 'stdout', text: 'working' };
  const exit = (code: number | null): object => ({ type: 'exit', code, signal: null });

  function kindAfter(...events: readonly object[]): string {
    const path = join(folder, 'run.jsonl');
    writeFileSync(path, events.map((event) => `${JSON.stringify({ at: 1, ...event })}\n`).join(''));
    const before: AgentOutcome = {
      kind: 'failed',
      failure: failure('agent_failed', 'tool ended with an exit code'),
    };
    const outcome = asNeverStarted(before, path);
    return outcome.kind === 'failed' ? outcome.failure.kind : outcome.kind;
  }

  test('exit codes 126 and 127 without any output mean a missing agent', () => {
    assert.equal(kindAfter(started, exit(126)), 'agent_missing');
    assert.equal(kindAfter(started, stderr('sh: tool: not found'), exit(127)), 'agent_missing');
    assert.equal(kindAfter(exit(127)), 'agent_missing');
  });

  test('a sandbox that cannot execute the program reports a missing agent', () => {
    const line = 'bwrap: execvp /opt/tool: No such file or directory';
    assert.equal(kindAfter(started, stderr(line), exit(1)), 'agent_missing');
    assert.equal(kindAfter(started, stderr('no such file'), exit(1)), 'agent_failed');
  });

  test('an agent that showed any sign of work has failed', () => {
    assert.equal(kindAfter(started, stdout, exit(127)), 'agent_failed');
    const call = { type: 'tool_call', id: '1', name: 'sh', input: {} };
    assert.equal(kindAfter(call, exit(127)), 'agent_failed');
    assert.equal(kindAfter(started, exit(3)), 'agent_failed');
    assert.equal(kindAfter(started, exit(null)), 'agent_failed');
  });
});
