// The test on which a menu of VS Code's test view was opened: the test itself, or a message of its
// last run.

import type * as vscode from 'vscode';
import type { ShownTest, TestFailure } from './task-from-test.ts';

type Item = Pick<vscode.TestItem, 'id' | 'label' | 'uri' | 'range' | 'parent'>;

export interface TestChoice {
  readonly uri: vscode.Uri | null;
  readonly test: Omit<ShownTest, 'path'>;
}

/** Returns null if the command was called on something else. */
export function testChosen([first]: readonly unknown[]): TestChoice | null {
  const { test, message } = fieldsOf(first);
  const item = isItem(test) ? test : isItem(first) ? first : null;
  if (item === null) return null;
  const { location } = fieldsOf(message) as Partial<vscode.TestMessage>;
  const uri = location?.uri ?? item.uri ?? null;
  const line = (location?.range ?? item.range)?.start.line ?? null;
  return {
    uri,
    test: {
      labels: labelsOf(item),
      line: line === null ? null : line + 1,
      failure: failureOf(message),
    },
  };
}

function labelsOf(item: Item): readonly string[] {
  const labels: string[] = [];
  for (let each: Item | undefined = item; each !== undefined; each = each.parent)
    labels.unshift(each.label);
  return labels;
}

function failureOf(raw: unknown): TestFailure | null {
  const { message, expectedOutput, actualOutput, stackTrace } = fieldsOf(
    raw,
  ) as Partial<vscode.TestMessage>;
  if (message === undefined) return null;
  return {
    message: typeof message === 'string' ? message : message.value,
    expected: expectedOutput ?? null,
    actual: actualOutput ?? null,
    stack: (stackTrace ?? []).map(({ label, uri, position }) => {
      const at = position === undefined ? '' : `:${position.line + 1}`;
      return uri === undefined ? label : `${label} (${uri.path}${at})`;
    }),
  };
}

function isItem(value: unknown): value is Item {
  const { id, label, children } = fieldsOf(value);
  return typeof id === 'string' && typeof label === 'string' && typeof children === 'object';
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
