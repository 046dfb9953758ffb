// The line of an entry that opens and closes it.

import { html, type TemplateResult } from 'lit';
import type { Entry } from '../../shared/log/transcript.ts';
import { icon } from '../../shared/looks/icon.ts';
import type { EntryActions, EntryLook } from './entry-view.ts';

export function summaryTemplate(
  entry: Entry,
  look: EntryLook,
  actions: EntryActions,
  inside: TemplateResult,
): TemplateResult {
  return html`<button
    class="summary"
    type="button"
    aria-expanded=${look.isOpen}
    tabindex=${look.isActive ? 0 : -1}
    @click=${() => actions.toggle(entry)}
  >
    ${icon(look.isOpen ? 'chevron-down' : 'chevron-right')}${inside}
  </button>`;
}
