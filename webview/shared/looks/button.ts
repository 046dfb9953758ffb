// The push button of `@vscode-elements/elements`, with the features of a native button that it
// lacks.

import { VscodeButton } from '@vscode-elements/elements/dist/vscode-button/index.js';

/**
 * It acts on Enter and Space, and prevents their other effects in the browser: Space scrolls, and a
 * native button that gets the focus from the action is pressed. A key that is held down acts once.
 */
function takeKeys(event: KeyboardEvent): void {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  if (!(event.composedPath()[0] instanceof VscodeButton)) return;
  event.preventDefault();
  if (event.repeat) event.stopImmediatePropagation();
}

globalThis.document?.addEventListener('keydown', takeKeys, { capture: true });
