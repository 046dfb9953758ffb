// The slider over an epic's history, with the selected time.

import { html, nothing, type TemplateResult } from 'lit';
import type { BoardPast, Life } from './board-past.ts';

/** Number of arrow-key steps over the whole history. */
const steps = 200;
const stepMinMs = 1_000;

export function pastTemplate(past: BoardPast): TemplateResult | typeof nothing {
  if (!past.isOpen) return nothing;
  const { life } = past;
  return html`<div class="past">
    ${life === null ? nothing : slider(past, life)}
    ${past.failed === '' ? nothing : html`<span class="failed" role="alert">${past.failed}</span>`}
  </div>`;
}

function slider(past: BoardPast, life: Life): TemplateResult {
  const stepMs = Math.max(stepMinMs, Math.round((life.toMs - life.fromMs) / steps));
  const words = momentText(past.atMs);
  return html`<input
      type="range"
      aria-label="Moment"
      aria-valuetext=${words}
      min=${life.fromMs}
      max=${life.toMs}
      step="1"
      .value=${String(past.atMs)}
      @input=${(event: Event) => past.goTo(Number((event.target as HTMLInputElement).value))}
      @keydown=${(event: KeyboardEvent) => onKey(event, past, life, stepMs)}
    />
    <time datetime=${new Date(past.atMs).toISOString()}>${words}</time>`;
}

/** The slider's own steps would be milliseconds. */
function onKey(event: KeyboardEvent, past: BoardPast, life: Life, stepMs: number): void {
  const by: Readonly<Record<string, number>> = {
    ArrowLeft: -stepMs,
    ArrowDown: -stepMs,
    ArrowRight: stepMs,
    ArrowUp: stepMs,
    PageDown: -10 * stepMs,
    PageUp: 10 * stepMs,
  };
  const step = by[event.key];
  if (step === undefined) return;
  event.preventDefault();
  past.goTo(Math.min(life.toMs, Math.max(life.fromMs, past.atMs + step)));
}

function momentText(atMs: number): string {
  return new Date(atMs).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
}
