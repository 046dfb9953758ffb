// Text of agents, repositories and people is text: it makes no element, no link of VS Code's, no
// script and no style, and the content security policy has nothing to refuse.

import assert from 'node:assert/strict';
import type { StatusSnapshot, TaskView } from '../../server/protocol/views.ts';
import { smallBoard } from './support/boards.ts';
import { openAny } from './support/every-webview.ts';
import { screenshot } from './support/webview-page.ts';

const marker = 'hostile-element';

/** Words in front of each, so that it is seen whether anything shows at all. */
const hostile: Readonly<Record<string, readonly string[]>> = {
  markup: [
    'markup',
    `<img class="${marker}" src=x onerror="document.title='ran'">`,
    `</script><script class="${marker}">document.title='ran'</script>`,
    `<style class="${marker}">body { display: none }</style>`,
    `<iframe class="${marker}" srcdoc="<script>parent.document.title='ran'</script>"></iframe>`,
    `<svg class="${marker}" onload="document.title='ran'"><use href="data:x"/></svg>`,
    `[click](command:workbench.action.quit) <a class="${marker}" href="command:x">x</a>`,
    `[click](javascript:document.title='ran') javascript:alert(1)`,
    '${document.title="ran"} {{constructor.constructor("document.title=1")()}}',
  ],
  'signs and sequences': [
    'signs',
    '\u001b]0;ran\u0007\u001b[2J\u001b[31mred\u001b[0m\u001b]8;;command:x\u0007l\u001b]8;;\u0007',
    '\u202Egnp.exe \u2066hidden\u2069 \u200B\u200F\u061C',
    'a\u0000b\u0007c\u0008d\u007fe\u009bf',
    '\uD800 \uDFFF',
  ],
  'too much': [
    'much',
    `z${'\u0300'.repeat(2_000)}`,
    `begin ${'long'.repeat(50_000)} end`,
    'a b '.repeat(10_000),
  ],
};

function hostileBoard(text: string): StatusSnapshot {
  const board = smallBoard();
  const written = (task: TaskView): TaskView => ({
    ...task,
    title: text,
    description: text,
    agent: text.slice(0, 200),
    labels: [text.slice(0, 200)],
    last_error: text,
    blocked_reason: text,
    verdict_reason: text,
    warnings: [text],
    conflict_files: [text],
    branch: text,
  });
  return {
    ...board,
    tasks: board.tasks.map(written),
    epics: board.epics.map((epic) => ({ ...epic, title: text, description: text })),
    questions: board.questions.map((each) => ({
      ...each,
      text,
      choices: [text, ...each.choices],
    })),
    stuck: [{ id: 'check', waits_for: ['print'], reason: text }],
  };
}

suite('hostile content', () => {
  for (const name of [
    'tree',
    'inbox',
    'stream',
    'grid',
    'board',
    'run',
    'plan',
    'worktrees',
    'rules',
  ] as const) {
    for (const [what, parts] of Object.entries(hostile)) {
      test(`${name} shows hostile text safely: ${what}`, async () => {
        const text = parts.join(' ');
        const texts = { text, tool: text, result: text, output: text };
        const view = await openAny(name, { state: { board: hostileBoard(text) } }, texts);
        await view.page
          .getByText(parts[0] ?? '')
          .filter({ visible: true })
          .first()
          .waitFor();
        await screenshot(view.page, `${name}-hostile-${what.replaceAll(' ', '-')}`);
        assert.notEqual(await view.page.title(), 'ran');
        const found = await view.page.evaluate(findHostile, marker);
        assert.deepEqual(found, []);
        await view.close();
      });
    }
  }
});

/** Elements that only hostile text could have made, in the page and in all of its shadow roots. */
function findHostile(hostileClass: string): string[] {
  const found: string[] = [];
  const look = (root: Document | ShadowRoot): void => {
    for (const element of root.querySelectorAll('*')) {
      const link = element.getAttribute('href') ?? '';
      const isOurs =
        !element.classList.contains(hostileClass) && !/^(command|javascript):/i.test(link);
      if (!isOurs || element.localName === 'iframe') found.push(element.outerHTML.slice(0, 200));
      const handlers = element.getAttributeNames().filter((name) => name.startsWith('on'));
      if (handlers.length > 0) found.push(element.outerHTML.slice(0, 200));
      if (element.shadowRoot !== null) look(element.shadowRoot);
    }
  };
  look(document);
  // Signs that turn the words around them must not reach the page as they are.
  const shown = document.body.innerText;
  if (/[\u202A-\u202E\u2066-\u2069]/u.test(shown)) found.push('a sign that turns words');
  return found;
}
