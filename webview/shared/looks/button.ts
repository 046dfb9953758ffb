// The push button of `@vscode-elements/elements`, with the features that it lacks of a native one.

import { VscodeButton } from '@vscode-elements/elements/dist/vscode-button/index.js';

/**
 * It acts on Enter and Space, and leaves the browser their other effects: scroll by Space, and
 * press a native button that gets the focus from the action. A key that is held down acts once.
 */
function takeKeys(event: KeyboardEvent): void {
  if (event.key !== 'Enter' && event.key !== ' ') return;
  if (!(event.composedPath()[0] instanceof VscodeButton)) return;
  event.preventDefault();
  if (event.repeat) event.stopImmediatePropagation();
}

globalThis.document?.addEventListener('keydown', takeKeys, { capture: true });
