// What a log says about the process that runs or ran last: the same for every reader at any time.

import assert from 'node:assert/strict';
import {
  forNextProcess,
  noFacts,
  withEvent,
  type LogFacts,
} from '../../../server/agents/kit/log/log-facts.ts';
import type { AgentEvent } from '../../../server/protocol/agent-events.ts';

const started = { type: 'started', agent: 'amp', sessionId: null, resumed: false } as const;
const exit = { type: 'exit', code: 1, signal: null } as const;
const output = (stream: 'stdout' | 'stderr', text: string): AgentEvent => {
  return { type: 'output', stream, text };
};
const usage = (outputTokens: number): AgentEvent => {
  return { type: 'usage', usage: { ...noFacts.usage, outputTokens } };
};
const call = (id: string): AgentEvent => {
  return { type: 'tool_call', id, name: `tool ${id}`, title: '', input: null };
};
const result = (id: string, isError = false): AgentEvent => {
  return { type: 'tool_result', id, isError, text: 'no' };
};
function factsOf(...events: readonly AgentEvent[]): LogFacts {
  return events.reduce(
    (facts, event) => withEvent(facts, event, ({ isError }) => isError),
    noFacts,
  );
}

suite('facts of a log', () => {
  test('a call is open until its result arrives, and a refused call is named once', () => {
    assert.deepEqual([...factsOf(call('a'), call('b'), result('a')).openCalls.keys()], ['b']);
    const refused = factsOf(call('a'), result('a', true), call('a'), result('a', true));
    assert.deepEqual(refused.deniedTools, ['tool a']);
  });

  test('the summary is the text after the last tool call', () => {
    const text = (words: string): AgentEvent => ({ type: 'text', text: words });
    assert.equal(
      factsOf(text('first'), call('a'), result('a'), text('la'), text('st')).summary,
      'last',
    );
  });

  test('facts about a process stay after its exit, whatever is recorded later', () => {
    const note = { type: 'note', level: 'info', text: 'seen' } as const;
    const facts = factsOf(started, output('stderr', 'boom'), usage(3), exit, note);
    assert.equal(facts.hasExit, true);
    assert.equal(facts.plainTail, 'boom\n');
    assert.equal(facts.stderrTail, 'boom\n');
    assert.deepEqual([facts.usageBefore.outputTokens, facts.usage.outputTokens], [0, 3]);
  });

  test('the next process starts with only its total when it first prints', () => {
    const first = [started, output('stderr', 'boom'), call('a'), usage(3), exit];
    const facts = factsOf(...first, output('stdout', 'hello'));
    assert.deepEqual(facts, { ...forNextProcess(factsOf(...first)), plainTail: 'hello\n' });
    assert.equal(facts.usageBefore.outputTokens, 3);
    assert.equal(facts.hasExit, false);
  });

  test('output before it reports its start is not an error of its work', () => {
    const facts = factsOf(output('stderr', 'warming up'), started, usage(1), usage(2));
    assert.equal(facts.plainTail, 'warming up\n');
    assert.equal(facts.stderrTail, '');
    assert.equal(facts.turns, 2);
  });

  test('tails are bounded', () => {
    const lines = Array.from({ length: 2_000 }, (_, n) => output('stderr', `line ${n}`));
    const { plainTail, stderrTail } = factsOf(...lines);
    assert.ok(plainTail.length <= 4_096 && stderrTail.length <= 4_096);
    assert.ok(plainTail.endsWith('line 1999\n'));
  });
});
