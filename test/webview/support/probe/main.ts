// A tiny webview, for the tests of the harness itself.

import { connectHost } from '../../../../webview/shared/host.ts';

const host = connectHost();
const text = document.createElement('main');
document.body.append(text);

function line(words: string): void {
  const paragraph = document.createElement('p');
  paragraph.textContent = words;
  text.append(paragraph);
}

line(`remembered ${JSON.stringify(host.memory.get() ?? null)}`);
host.memory.set({ visits: 1 });
host.select(['parse']);
host.onPush((push) => {
  line(`pushed ${push.type}`);
  if (push.type !== 'state') return;
  line(`${push.state.board?.tasks.length} tasks of ${push.state.webview}`);
});
await host.action('hello', {});
try {
  const { text: why } = (await host.backend('why', { id: 'print' })) as unknown as { text: string };
  line(`because ${why}`);
} catch (error) {
  line(String(error));
}
document.addEventListener('keydown', ({ key }) => {
  if (key === 'b') {
    // Code that the policy must refuse.
    const style = document.createElement('style');
    style.textContent = 'p { color: red }';
    document.head.append(style);
  }
  if (key === 'u') text.append(document.createElement('button'));
});
