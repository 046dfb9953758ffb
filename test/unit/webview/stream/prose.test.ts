// How the prose, code and lists of agents are shown: Markdown, colors, changed words, to-do lists.

import assert from 'node:assert/strict';
import type { LogLineView } from '../../../../server/protocol/log-line.ts';
import { highlighted, languageOfPath } from '../../../../webview/shared/text/highlight.ts';
import { diffLines } from '../../../../webview/shared/text/line-diff.ts';
import { proseBlocks, type ProseBlock } from '../../../../webview/shared/text/prose.ts';
import { lastTodos, todoSummary } from '../../../../webview/shared/log/todo-list.ts';
import { changedWords } from '../../../../webview/shared/text/word-diff.ts';
import type { ProseSpan } from '../../../../webview/shared/text/file-reference.ts';

/** A tree of prose, written as one line. */
function outline(block: ProseBlock): string {
  switch (block.kind) {
    case 'code':
      return `code ${block.language}(${block.text})`;
    case 'heading':
    case 'text':
      return `${block.kind}(${outlineOf(block.spans)})`;
    case 'list': {
      const items = block.items.map(({ isDone, blocks }) => {
        const box = isDone === null ? '' : isDone ? '[x]' : '[ ]';
        return box + blocks.map(outline).join(' ');
      });
      return `${block.start === null ? '' : `${block.start}.`}list(${items.join(' ')})`;
    }
    case 'quote':
      return `quote(${block.blocks.map(outline).join(' ')})`;
    case 'table': {
      const rows = [block.head, ...block.rows].map((row) =>
        row.map(({ spans }) => outlineOf(spans)).join(','),
      );
      return `table(${rows.join(';')})`;
    }
    case 'rule':
      return 'rule';
  }
}

function outlineOf(spans: readonly ProseSpan[]): string {
  const parts = spans.map((span) => {
    switch (span.kind) {
      case 'text':
        return span.text;
      case 'code':
        return `code(${span.text})`;
      case 'link':
        return `link(${span.url})`;
      case 'file':
        return `file(${span.file.path}${span.file.line === null ? '' : `:${span.file.line}`})`;
      case 'image':
        return `image(${span.words} ${span.name})`;
      case 'bold':
      case 'italic':
      case 'struck':
        return `${span.kind}(${outlineOf(span.spans)})`;
    }
  });
  return parts.join('');
}

suite('code', () => {
  const shown = (text: string, language: string): string | null =>
    highlighted(text, language)
      ?.map(({ text: part, kind }) => (kind === null ? part : `<${kind}>${part}</>`))
      .join('') ?? null;

  test('it is colored by its language, and nothing of it is lost', () => {
    assert.equal(
      shown("const a = 'b'; // c", 'ts'),
      "<keyword>const</> a = <string>'b'</>; <comment>// c</>",
    );
    assert.equal(shown('{"a": 1}', 'json'), '{<attribute>"a"</>: <number>1</>}');
    for (const language of ['py', 'sh', 'rs', 'go', 'java', 'sql', 'html', 'yaml', 'toml', 'css']) {
      const text = '<a href="x">if (1) { return "b" } # c\n-- \u0000 &amp; [x]';
      assert.equal(
        highlighted(text, language)
          ?.map((piece) => piece.text)
          .join(''),
        text,
        language,
      );
    }
  });

  test('code in an unknown language, or too long code, stays unchanged', () => {
    assert.equal(highlighted('a', 'klingon'), null);
    assert.equal(highlighted('a', ''), null);
    assert.equal(highlighted('a'.repeat(30_000), 'ts'), null);
  });

  test("a file's language is determined by its extension", () => {
    assert.deepEqual(
      ['a/b.ts', 'Makefile', 'a.b/c', null, '.env.x y'].map((path) => languageOfPath(path)),
      ['ts', '', '', '', ''],
    );
  });
});

suite('changed words', () => {
  const marked = (before: string, after: string): string[] => {
    const lines = diffLines(before, after);
    const words = changedWords(lines);
    return lines.map((line) => {
      const ranges = words.get(line) ?? [];
      return ranges.reduceRight(
        (text, [from, to]) => `${text.slice(0, from)}<${text.slice(from, to)}>${text.slice(to)}`,
        line.text,
      );
    });
  };

  test('changed words of a changed line are marked', () => {
    assert.deepEqual(marked('const width = 80;', 'const width = 100;'), [
      'const width = <80>;',
      'const width = <100>;',
    ]);
    assert.deepEqual(marked('f(a)', 'f(a, b)'), ['f(a)', 'f(a<, b>)']);
  });

  test('words of unrelated lines are not marked', () => {
    assert.deepEqual(marked('alpha', 'omega'), ['alpha', 'omega']);
    assert.deepEqual(marked('one two', 'one two three\nfour'), [
      'one two',
      'one two three',
      'four',
    ]);
  });
});

suite("the agent's to-do list", () => {
  const call = (todos: unknown): LogLineView =>
    ({
      type: 'tool_call',
      id: 't',
      name: 'TodoWrite',
      title: '',
      input: { todos },
      at: 1,
    }) as LogLineView;

  test('it is the newest one, from a tool or a plan', () => {
    const todos = [
      { content: 'Read', status: 'completed' },
      { content: 'Write', status: 'in_progress' },
      { content: 'Test', status: 'pending' },
      { text: 'no content' },
    ];
    const items = lastTodos([call([]), call(todos), { type: 'text', text: 'a', at: 2 }]);
    assert.deepEqual(
      items?.map(({ text, state }) => `${state} ${text}`),
      ['done Read', 'active Write', 'open Test'],
    );
    assert.equal(todoSummary(items ?? []), '1 of 3 done · Write');
    const note = {
      type: 'note',
      level: 'info',
      text: 'Plan:\n[x] Read\n[>] Write\n[ ] Test',
      at: 3,
    };
    assert.deepEqual(lastTodos([call([]), note]), items);
  });

  test('it is null if no line has one', () => {
    assert.equal(
      lastTodos([call('x'), call(null), { type: 'note', level: 'info', text: 'Plan', at: 1 }]),
      null,
    );
    assert.equal(todoSummary([{ text: 'a', state: 'done' }]), 'all 1 done');
  });
});

suite('prose', () => {
  test('code, headings, lists and text are rendered', () => {
    const text = 'Hello\nyou\n\n# Title\n- one\n  1. two\n```ts\nconst a = 1;\n```\nend';
    assert.deepEqual(proseBlocks(text).map(outline), [
      'text(Hello\nyou)',
      'heading(Title)',
      'list(text(one) 1.list(text(two)))',
      'code ts(const a = 1;)',
      'text(end)',
    ]);
    assert.deepEqual(proseBlocks('```\nopen').map(outline), ['code (open)']);
  });

  test('tables, quotes, task lists and emphasis are rendered', () => {
    const text = '|a|b|\n|-|-:|\n|`x`|**y**|\n\n> q *it* ~~s~~\n\n- [x] done\n- [ ] open\n\n---\n';
    assert.deepEqual(proseBlocks(text).map(outline), [
      'table(a,b;code(x),bold(y))',
      'quote(text(q italic(it) struck(s)))',
      'list([x]text(done) [ ]text(open))',
      'rule',
    ]);
  });

  test('links lead to the web and to files, images come from the project, and everything else and HTML stay text', () => {
    const kept = `${'0a'.repeat(32)}.png`;
    const cases: readonly (readonly [string, string])[] = [
      ['[d](https://a.example/b)', 'link(https://a.example/b)'],
      ['see https://a.example', 'see link(https://a.example/)'],
      ['[d](src/b.ts#L3)', 'file(src/b.ts:3)'],
      ['in `src/b.ts:4:2` and lib/x.py:12', 'in file(src/b.ts:4) and file(lib/x.py:12)'],
      ['`a.map` at 10:30, v1.2:3', 'code(a.map) at 10:30, v1.2:3'],
      ...['command:e', 'javascript:e', 'data:text/html,e', 'file:///etc/passwd', 'vscode:e'].map(
        (href): readonly [string, string] => [`[d](${href})`, `[d](${href})`],
      ),
      ['![d](https://a.example/b.png)', '![d](https://a.example/b.png)'],
      [`![d](attachment:${kept})`, `image(d ${kept})`],
      ...[`attachment:../${kept}`, 'attachment:x.png', `file:${kept}`].map(
        (href): readonly [string, string] => [`![d](${href})`, `![d](${href})`],
      ),
      ['a <i>b</i> <img src=x onerror=e> &lt;u&gt;', 'a <i>b</i> <img src=x onerror=e> <u>'],
      ['<script>\ne\n</script>', '<script>\ne\n</script>'],
    ];
    for (const [text, shown] of cases) {
      assert.deepEqual(proseBlocks(text).map(outline), [`text(${shown})`], text);
    }
  });

  test('extreme text takes no noticeable time', () => {
    const texts = ['>', '[', '*a', '_a', '`a', '![', '<a ', 'a/', '~a', '(a', '- ', '|-'].map(
      (part) => part.repeat(Math.ceil(7_000 / part.length)),
    );
    for (const text of texts) {
      const fromMs = performance.now();
      proseBlocks(text);
      const ms = performance.now() - fromMs;
      assert.ok(ms < 2_000, `${text.slice(0, 10)} takes ${ms} ms`);
    }
  });
});
