// A prompt's section on the task that it continues.

import assert from 'node:assert/strict';
import { continuedSection } from '../../../server/core/prompt/continued-prompt.ts';

const work = {
  id: 'task-a',
  title: 'Greet by name',
  description: 'hello(name) greets.',
  summary: 'Added hello(name).',
  landedSha: 'c'.repeat(40),
};

suite('prompt of a follow-up', () => {
  test('an agent with the conversation learns that the task is done', () => {
    const text = continuedSection(work, true);
    assert.match(
      text,
      /^## What This Continues\ntask-a: Greet by name\nIt has landed as commit c{12},/,
    );
    assert.match(text, /You did that task in this conversation/);
    assert.doesNotMatch(text, /Added hello/);
  });

  test('an agent without it reads the earlier request and report, and learns that the conversation is missing', () => {
    const text = continuedSection({ ...work, landedSha: null }, false);
    assert.match(text, /The conversation about it is not available to you/);
    assert.match(text, /It has not landed/);
    assert.match(text, /hello\(name\) greets\.[^]*Added hello\(name\)\./);
  });

  test('a task that continues no other task has no such section', () => {
    assert.equal(continuedSection(null, true), '');
  });
});
