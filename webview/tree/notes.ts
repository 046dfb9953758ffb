// The message below the rows while something is dragged over them.

import { html, type TemplateResult } from 'lit';
import { icon } from '../shared/looks/icon.ts';
import type { Drop } from '../shared/plan/places.ts';

/** The effect of a drop here. */
export function hoverNote({ kind, words }: Drop): TemplateResult {
  const isRefused = kind === 'refused';
  return html`<div class=${isRefused ? 'note error' : 'note'} data-hover>
    ${icon(isRefused ? 'circle-slash' : 'info')}<bdi>${words}</bdi>
  </div>`;
}
