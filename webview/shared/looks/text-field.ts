// The text field of `@vscode-elements/elements`, with the features of a native field that it lacks.

import { VscodeTextfield } from '@vscode-elements/elements/dist/vscode-textfield/index.js';

/** An Enter that only completes an input method's choice would submit its form. */
function keepComposing(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !event.isComposing) return;
  if (event.composedPath().some((each) => each instanceof VscodeTextfield)) event.stopPropagation();
}

globalThis.document?.addEventListener('keydown', keepComposing, { capture: true });

/** Puts the cursor into a field that may not have been drawn yet. */
export async function focusField(field: VscodeTextfield | null): Promise<void> {
  await field?.updateComplete;
  field?.focus();
}

export { VscodeTextfield };
