// Floods: 16 agents at 1,000 lines a second each. Frames are measured and printed, not judged: they
// depend on the machine.

import assert from 'node:assert/strict';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';

const secondsMeasured = 3;

suite('webview: floods', () => {
  let view: OpenWebview;

  const measured = (name: string): number[] =>
    view.host
      .of('measured')
      .map(({ params }) => params as { name: string; ms: number })
      .filter((params) => params.name === name)
      .map(({ ms }) => Math.round(ms));

  for (const name of ['grid', 'stream'] as const) {
    test(`${name} keeps up with a flood and reports its frames`, async () => {
      view = await openWebview(name, { entry: `test/webview/stream/flood/${name}.ts` });
      await view.host.until(`${secondsMeasured} s of frames`, () => {
        return measured(`${name}.frame.worst`).length >= secondsMeasured;
      });
      const kinds = ['frame.worst', 'frame.median', 'frame.dropped', 'open'];
      const told = kinds.map((kind) => `${kind} ${measured(`${name}.${kind}`).join(' ')}`);
      console.log(`      ${name}: ${told.join('; ')}`);
      const shown = await view.page.evaluate(() => {
        const deep = (root: ParentNode): string =>
          [...root.querySelectorAll('*')]
            .map((element) => (element.shadowRoot === null ? '' : deep(element.shadowRoot)))
            .concat(root instanceof ShadowRoot ? (root.textContent ?? '') : '')
            .join(' ');
        const numbers = [...deep(document).matchAll(/(\d{6,}) compiled/gu)].map(([, text]) =>
          Number(text),
        );
        return Math.max(...numbers);
      });
      assert.ok(shown > 100_000, `shows line ${shown}`);
      await screenshot(view.page, `flood-${name}`);
      await view.close();
    });
  }
});
