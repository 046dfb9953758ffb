// Images, files and selections in a description: pasted, dropped and added by buttons, and shown.

import assert from 'node:assert/strict';
import { attachmentText } from '../../../server/core/plan/attachments.ts';
import type { TaskView } from '../../../server/protocol/views.ts';
import type { Locator } from '../../vscode/host/browser.ts';
import { answerReads } from '../support/answers.ts';
import { checkAxe } from '../support/axe.ts';
import { boardOf, numbered } from '../support/boards.ts';
import { stateThemes } from '../support/themes.ts';
import {
  openWebview,
  screenshot,
  type OpenOptions,
  type OpenWebview,
} from '../support/webview-page.ts';

/** A green picture of 320 by 120 pixels. */
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAUAAAAB4CAIAAAAMrLyJAAABGElEQVR42u3TQQkAAAgEwUtiMDMZ2hC+hIFJsLCpaeCpSAAGBgwMGBgMDBgYMDBgYDAwYGDAwGBgwMCAgQEDg4EBAwMGBgwMBgYMDBgYDAwYGDAwYGAwMGBgwMCAgcHAgIEBA4OBAQMDBgYMDAYGDAwYGAysAhgYMDBgYDAwYGDAwICBwcCAgQEDg4EBAwMGBgwMBgYMDBgYMDAYGDAwYGAwMGBgwMCAgcHAgIEBAwMGBgMDBgYMDAYGDAwYGDAwGBgwMGBgMDBgYMDAgIHBwICBAQMDBgYDAwYGDAwGBgwMGBgwMBgYMDBgYMDAYGDAwICBwcCAgQEDAwYGAwMGBgwMGBgMDBgYMDAYGDAwYGDAwGBgwMDA1QI2EmDpJpj25AAAAABJRU5ErkJggg==';
const name = `${'ab'.repeat(32)}.png`;
const shown = `attachment:${name}`;

interface GivenFile {
  readonly name: string;
  readonly type: string;
  readonly base64?: string;
  readonly size?: number;
}

suite('webview: images, files and selections in a description', () => {
  let view: OpenWebview;
  let field: Locator;

  async function open(description: string, options: OpenOptions = {}): Promise<void> {
    const board = boardOf(numbered([{ id: 'print', title: 'Print the tree', description }]), []);
    view = await openWebview('stream', {
      ...options,
      state: { board, subject: { id: 'print', attempt: null } },
      prepare: (host) => {
        answerReads(host);
        host.backend('attempts', () => []);
        host.backend('log.read', () => {
          throw new Error('no attempt yet');
        });
        host.backend('task.edit', () => board.tasks[0] as TaskView);
        host.backend('attachment.add', () => ({ name }));
        host.action('readImage', (asked) => ({ content: asked.name === name ? png : null }));
      },
    });
    field = view.page.getByRole('textbox', { name: 'Description' });
  }

  async function write(description = ''): Promise<void> {
    await open(description);
    const edit = description === '' ? 'Describe what the agent' : 'Edit the description';
    await view.page.getByRole('button', { name: edit }).click();
    await field.waitFor();
  }

  const typed = async (): Promise<string> => await field.inputValue();
  const selected = async (): Promise<string> =>
    await field.evaluate((area) => {
      const { value, selectionStart, selectionEnd } = area as HTMLTextAreaElement;
      return value.slice(selectionStart, selectionEnd);
    });

  /** As Chromium does when files or texts are pasted or dropped. */
  const bring = async (
    kind: 'paste' | 'drop',
    files: readonly GivenFile[],
    texts: Readonly<Record<string, string>> = {},
  ): Promise<boolean> =>
    await field.evaluate(
      (area, given) => {
        const transfer = new DataTransfer();
        for (const file of given.files) {
          const bytes =
            file.base64 === undefined
              ? new Uint8Array(file.size ?? 1)
              : Uint8Array.from(atob(file.base64), (character) => character.charCodeAt(0));
          transfer.items.add(new File([bytes], file.name, { type: file.type }));
        }
        for (const [type, text] of Object.entries(given.texts)) transfer.setData(type, text);
        const common = { bubbles: true, cancelable: true, composed: true };
        const event =
          given.kind === 'paste'
            ? new ClipboardEvent('paste', { ...common, clipboardData: transfer })
            : new DragEvent('drop', { ...common, dataTransfer: transfer });
        return area.dispatchEvent(event);
      },
      { kind, files, texts },
    );

  for (const theme of stateThemes) {
    test(`an image that the project stores is shown, and an image from the web is not: ${theme}`, async () => {
      const missing = `${'cd'.repeat(32)}.png`;
      await open(
        `Like this:\n\n${attachmentText(name, 'the tree.png')}\n\n![far](https://a.example/b.png)\n\n![old](attachment:${missing})`,
        { theme },
      );
      const { page } = view;
      const image = page.getByRole('img', { name: 'the tree.png' });
      await image.waitFor();
      assert.equal(await image.evaluate((each) => (each as HTMLImageElement).naturalWidth), 320);
      await page.getByText('![far](https://a.example/b.png)').waitFor();
      await page.getByText('The image old is no longer kept.').waitFor();
      await screenshot(page, `attachment-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(page);
      await view.close();
    });
  }

  test('a pasted image is stored, and its alt text is selected so that it can be typed over', async () => {
    await write();
    await field.fill('As here:');
    const isFree = await bring('paste', [{ name: 'shot.png', type: 'image/png', base64: png }]);
    assert.equal(isFree, false, 'the paste was taken over');
    assert.deepEqual(await view.host.waitFor('attachment.add'), { content: png });
    await view.page.getByRole('status').getByText('Describe it').waitFor();
    assert.equal(await typed(), `As here:\n\n![shot.png](${shown})`);
    assert.equal(await selected(), 'shot.png');
    await view.page.keyboard.type('The tree, cut off');
    await view.page.keyboard.press('Control+Enter');
    assert.deepEqual(await view.host.waitFor('task.edit'), {
      id: 'print',
      description: `As here:\n\n![The tree, cut off](${shown})`,
    });
    await view.close();
  });

  test('a file that is too large, not an image, or only named like one is refused with a sentence', async () => {
    await write();
    const alert = view.page.getByRole('alert');
    await bring('drop', [{ name: 'big.png', type: 'image/png', size: 5 * 1024 * 1024 + 1 }]);
    await alert.getByText('big.png is larger than 5 MB. Make it smaller.').waitFor();
    await bring('drop', [{ name: 'notes.pdf', type: 'application/pdf' }]);
    await alert.getByText('notes.pdf is not an image. Drag it from').waitFor();
    await bring('drop', [{ name: 'fake.png', type: 'image/png' }]);
    await alert.getByText('fake.png is not an image that can be shown').waitFor();
    await checkAxe(view.page);
    assert.equal(await typed(), '');
    assert.deepEqual(view.host.of('attachment.add'), []);
    await view.close();
  });

  test('files from the Explorer become paths, and a refused file shows the reason', async () => {
    await write();
    view.host.action('attachFiles', () => ({
      texts: ['`src/print.ts`', '`src/`'],
      refused: ['passwd is outside of the repository, where agents cannot read it.'],
    }));
    const uris = ['file:///r/src/print.ts', 'file:///r/src', 'file:///etc/passwd'];
    await bring('drop', [], { 'text/uri-list': uris.join('\r\n') });
    assert.deepEqual(await view.host.waitFor('attachFiles'), { uris });
    await view.page.getByRole('alert').getByText('passwd is outside').waitFor();
    assert.equal(await typed(), '`src/print.ts` `src/`');
    await view.close();
  });

  test('a selection from an editor names its source, and other text is pasted as usual', async () => {
    await write();
    const quoted = '`src/print.ts`, line 3:\n\n```typescript\nprint()\n```';
    view.host.action('quoteSelection', ({ text }) => ({
      text: text === 'print()' ? quoted : null,
    }));
    await bring('paste', [], { 'text/plain': 'print()', 'vscode-editor-data': '{}' });
    await untilTyped(quoted);
    await bring('paste', [], { 'text/plain': 'copied long ago', 'vscode-editor-data': '{}' });
    await untilTyped(`${quoted} copied long ago`);
    assert.equal(await bring('paste', [], { 'text/plain': 'words' }), true, 'left to the browser');
    await view.close();
  });

  async function untilTyped(text: string): Promise<void> {
    await field.evaluate(async (area, wanted) => {
      while ((area as HTMLTextAreaElement).value !== wanted) {
        await new Promise((done) => requestAnimationFrame(done));
      }
    }, text);
  }

  test('images, a file and the selection can all be added with the keyboard', async () => {
    await write('Look at it.');
    const { page, host } = view;
    host.action('pickImages', () => ({ texts: [attachmentText(name, 'a.png')], refused: [] }));
    host.action('pickFile', () => ({ path: 'src/print.ts' }));
    host.action('quoteSelection', () => ({ text: null }));
    await field.press('Control+End');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await untilTyped('Look at it. `src/print.ts`');
    await page.getByRole('button', { name: 'Add images' }).press('Enter');
    await untilTyped(`Look at it. \`src/print.ts\`\n\n![a.png](${shown})`);
    await page.getByRole('button', { name: "Add the editor's selection" }).press('Enter');
    await page.getByRole('alert').getByText('Nothing is selected').waitFor();
    await view.close();
  });
});
