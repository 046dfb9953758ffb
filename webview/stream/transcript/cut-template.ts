// Long texts of an entry: cut, with a button that shows everything.

import { html, nothing, type TemplateResult } from 'lit';
import type { EntryActions, EntryLook } from './entry-view.ts';
import {
  allLimits,
  ansiTemplate,
  cutText,
  foldedLimits,
  type TextLimits,
} from '../../shared/text/text-template.ts';
import type { Entry } from '../../shared/log/transcript.ts';

function limitsOf(look: EntryLook): TextLimits {
  return look.showsAll ? allLimits : foldedLimits;
}

export function moreButton(
  entry: Entry,
  rest: string,
  look: EntryLook,
  actions: EntryActions,
): TemplateResult | typeof nothing {
  if (rest === '') return nothing;
  if (look.showsAll) return html`<div class="rest">${rest} are not shown; copy to see them.</div>`;
  return html`<button
    class="link"
    type="button"
    tabindex=${look.isActive ? 0 : -1}
    @click=${() => actions.showAll(entry)}
  >
    Show all (${rest})
  </button>`;
}

export function outputTemplate(
  entry: Entry,
  text: string,
  look: EntryLook,
  actions: EntryActions,
): TemplateResult {
  const limits =
    entry.body.kind === 'output' ? { ...limitsOf(look), lines: 1_000 } : limitsOf(look);
  const cut = cutText(text.replace(/\n+$/u, ''), limits);
  return html`<pre data-find>${ansiTemplate(cut.text, look.showsAll)}</pre>
    ${moreButton(entry, cut.rest, look, actions)}`;
}
