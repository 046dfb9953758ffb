// Opens the stream panel on a log in memory.

import type { AttemptView } from '../../../server/protocol/panel-views.ts';
import type { LogLineView } from '../../../server/protocol/log-line.ts';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { boardOf, numbered } from '../support/boards.ts';
import type { FakeHost } from '../support/fake-host.ts';
import { openWebview, type OpenOptions, type OpenWebview } from '../support/webview-page.ts';
import { attemptView, taskId } from './attempt-view.ts';
import { at, type FakeLog } from './fake-log.ts';

export function boardWith(
  task: Partial<TaskView> = {},
  change: Partial<StatusSnapshot> = {},
): StatusSnapshot {
  const tasks = numbered([
    {
      id: taskId,
      title: 'Print the tree',
      status: 'in_progress',
      phase: 'agent',
      agent: 'claude',
      attempts: 1,
      base_sha: '0123456789abcdef0123456789abcdef01234567',
      worktree_path: '/home/person/project/.drover/worktrees/1',
      ...task,
    },
  ]);
  return { ...boardOf(tasks), ...change };
}

export interface OpenStream extends OpenWebview {
  readonly log: FakeLog;
}

export async function openStream(
  log: FakeLog,
  options: OpenOptions & { readonly attempts?: readonly AttemptView[] } = {},
): Promise<OpenStream> {
  const opened = await openWebview('stream', {
    ...options,
    state: {
      board: boardWith(),
      subject: { id: taskId, attempt: null },
      ...options.state,
    },
    prepare: (host) => {
      serve(host, log);
      host.backend('attempts', () => options.attempts ?? [attemptView()]);
      host.backend('log.prompt', () => ({
        task_id: taskId,
        attempt: log.attempt,
        prompt: '# Print the tree\n\nWrite `print.ts`.',
      }));
      options.prepare?.(host);
    },
  });
  return { ...opened, log };
}

export function serve(host: FakeHost, log: FakeLog): void {
  host.backend('log.read', (params) => log.read(params));
}

const markdown = [
  '## What I found',
  'The width is *fixed* in `src/print.ts:2`, see [the notes](https://example.com/wrap).',
  '',
  '| file | lines | state |',
  '|---|--:|---|',
  '| `src/parse.ts` | 120 | **kept** |',
  '| `src/print.ts` | 48 | ~~old~~ new |',
  '',
  '> Wrap at the last space.',
  '',
  '1. read',
  '2. print',
  '   - [x] width',
  '   - [ ] colors',
  '',
  '```ts',
  "import { print } from './print.ts'; // the printer",
  'export const width: number = 100;',
  'print(`tree ${width}`);',
  '```',
].join('\n');

/** A short conversation with something of every kind. */
export function conversation(): LogLineView[] {
  return [
    { type: 'started', agent: 'claude', model: 'a-model', resumed: false, at: at(3) },
    { type: 'thinking', text: 'The printer needs a width.', at: at(4) },
    { type: 'text', text: 'I will **read** `parse.ts` first:\n\n- one\n- two', at: at(5) },
    {
      type: 'tool_call',
      id: 't1',
      name: 'Read',
      title: 'Read src/parse.ts',
      input: { file_path: 'src/parse.ts' },
      at: at(6),
    },
    {
      type: 'tool_result',
      id: 't1',
      isError: false,
      text: 'export function parse() {}',
      at: at(7),
    },
    {
      type: 'tool_call',
      id: 't2',
      name: 'Edit',
      title: 'Edit src/print.ts',
      input: {
        file_path: 'src/print.ts',
        old_string: 'const width = 80;\nprint(width);',
        new_string: 'const width = 100;\nprint(width);',
      },
      at: at(8),
    },
    { type: 'tool_result', id: 't2', isError: false, text: 'The file was updated.', at: at(9) },
    {
      type: 'tool_call',
      id: 't3',
      name: 'Bash',
      title: 'Bash npm test',
      input: { command: 'npm test', description: 'Run the tests' },
      at: at(10),
    },
    {
      type: 'tool_result',
      id: 't3',
      isError: true,
      text: '\u001b[31m1 failing\u001b[0m\n\u001b[32m12 passing\u001b[0m',
      at: at(15),
    },
    { type: 'retry', attempt: 1, delayMs: 2000, status: 529, error: 'overloaded', at: at(16) },
    {
      type: 'note',
      level: 'warning',
      text: 'The provider has sent no response for 120 s.',
      at: at(17),
    },
    { type: 'hint', id: 'h1', text: 'Use 100 columns.', state: 'sent', at: at(18) },
    { type: 'hint', id: 'h1', text: 'Use 100 columns.', state: 'delivered', at: at(19) },
    { type: 'output', stream: 'stderr', text: 'warning: deprecated', at: at(20) },
    {
      type: 'usage',
      usage: { inputTokens: 5_000, outputTokens: 900, cacheReadTokens: 100, costUsd: 0.5 },
      at: at(20),
    },
    {
      type: 'question',
      requestId: 'r1',
      kind: 'permission',
      text: 'Claude Code wants to use Bash:\nnpm install',
      choices: ['Allow', 'Deny'],
      at: at(21),
    },
  ];
}

/** Entries that are more than lines: a to-do list, an answered permission, Markdown. */
export function richConversation(): LogLineView[] {
  return [
    {
      type: 'tool_call',
      id: 't4',
      name: 'TodoWrite',
      title: 'TodoWrite',
      input: {
        todos: [
          { content: 'Read the parser', status: 'completed' },
          { content: 'Print the tree', status: 'in_progress' },
          { content: 'Write tests', status: 'pending' },
        ],
      },
      at: at(15),
    },
    { type: 'tool_result', id: 't4', isError: false, text: 'Kept.', at: at(15) },
    {
      type: 'question',
      requestId: 'r0',
      kind: 'permission',
      text: 'Claude Code wants to use Bash:\nnpm test',
      choices: ['Allow', 'Deny'],
      at: at(15),
    },
    { type: 'answered', requestId: 'r0', choice: 'Allow', at: at(15) },
    { type: 'text', text: markdown, at: at(16) },
    ...conversation(),
  ];
}

export interface ScrollFacts {
  readonly topPx: number;
  readonly fromEndPx: number;
  readonly rowCount: number;
  /** Numbers of the lines of output in sight, from the top. */
  readonly lines: readonly number[];
}

export async function scrollFacts(page: OpenStream['page']): Promise<ScrollFacts> {
  return await page.evaluate(() => {
    const root = document
      .querySelector('drover-stream')
      ?.shadowRoot?.querySelector('drover-transcript')?.shadowRoot;
    const scroller = root?.querySelector('.scroller');
    if (root === null || root === undefined || scroller === null || scroller === undefined) {
      throw new Error('there is no transcript');
    }
    const view = scroller.getBoundingClientRect();
    const lines: number[] = [];
    for (const pre of root.querySelectorAll('.row pre')) {
      const box = pre.getBoundingClientRect();
      const texts = (pre.textContent ?? '').split('\n');
      const linePx = box.height / texts.length;
      for (const [index, text] of texts.entries()) {
        const top = box.top + index * linePx;
        const number = /^line (\d+)$/u.exec(text)?.[1];
        if (number !== undefined && top + linePx > view.top + 1 && top < view.bottom - 1) {
          lines.push(Number(number));
        }
      }
    }
    return {
      topPx: scroller.scrollTop,
      fromEndPx: scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop,
      rowCount: root.querySelectorAll('.row').length,
      lines: lines.sort((a, b) => a - b),
    };
  });
}
