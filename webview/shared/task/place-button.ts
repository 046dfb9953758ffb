// A location in a file, which opens in the editor on a click.

import { html, nothing, type TemplateResult } from 'lit';
import type { Host } from '../host.ts';
import { visibleLine } from '../looks/visible-text.ts';

/** Draws nothing without a path. */
export function placeButton(
  host: Host | null,
  { path, line }: { readonly path: string | null; readonly line: number | null },
): TemplateResult | typeof nothing {
  if (path === null) return nothing;
  const place = line === null ? { path } : { path, line };
  return html`<button
    type="button"
    class="link"
    @click=${() => void host?.action('openFile', place)}
  >
    ${visibleLine(line === null ? path : `${path}:${line}`)}
  </button>`;
}
