// The newest review of a task by an agent: its findings, and the criteria with their evidence.

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { ReviewView } from '../../../server/protocol/requests/reviews.ts';
import type { Host } from '../host.ts';
import { controlStyles } from '../looks/control-styles.ts';
import { icon, iconStyles } from '../looks/icon.ts';
import { quietStyles } from '../looks/quiet-styles.ts';
import { visibleLine } from '../looks/visible-text.ts';
import { statusStyles } from '../status-styles.ts';
import { placeButton } from './place-button.ts';
import { taskStyles } from './task-styles.ts';
import '../looks/button.ts';

type FindingView = ReviewView['findings'][number];

export class DroverReview extends LitElement {
  static override properties = {
    host: { attribute: false },
    task: { attribute: false },
    seq: { attribute: false },
  };
  static override styles = [controlStyles, iconStyles, statusStyles, quietStyles, taskStyles];
  declare host: Host | null;
  declare task: string;
  /** The last change of the task, after which its review is read again. */
  declare seq: number;
  #review: ReviewView | null = null;
  #failure = '';

  constructor() {
    super();
    this.host = null;
    this.task = '';
    this.seq = 0;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('task')) this.#review = null;
    if (changed.has('host') || changed.has('task') || changed.has('seq')) void this.#read();
  }

  override render(): TemplateResult | typeof nothing {
    const review = this.#review;
    if (review === null) return nothing;
    const verdict = review.blocking > 0 ? 'has blocking findings' : 'nothing blocks';
    return html`<section aria-labelledby="review">
      <h2 id="review">Review by ${visibleLine(review.agent)}: ${verdict}</h2>
      ${this.#failure === '' ? nothing : html`<div role="alert">${visibleLine(this.#failure)}</div>`}
      <ul>
        ${review.criteria.map(
          ({ text, met, evidence }) =>
            html`<li class="row">
              ${icon(met ? 'pass-filled' : 'error', met ? 'tone-good' : 'tone-bad')}
              <span class="grow">
                <bdi>${visibleLine(text)}</bdi>
                <span class="empty"
                  >${met ? 'Met' : 'Not met'}: <bdi>${visibleLine(evidence)}</bdi></span
                >
              </span>
            </li>`,
        )}
        ${review.findings.map((finding, at) => this.#finding(finding, at + 1))}
      </ul>
    </section>`;
  }

  #finding(finding: FindingView, number: number): TemplateResult {
    const { severity, text, overruled } = finding;
    const isBlocking = severity === 'blocking' && !overruled;
    const words = overruled ? 'Overruled' : severity === 'blocking' ? 'Blocking' : 'Minor';
    return html`<li class="row">
      ${icon(isBlocking ? 'error' : 'info', isBlocking ? 'tone-bad' : 'tone-quiet')}
      <span class="grow">
        <span class="empty">${words}</span>
        <bdi>${visibleLine(text)}</bdi>
        ${placeButton(this.host, finding)}
      </span>
      ${
        isBlocking
          ? html`<vscode-button
              secondary
              aria-label=${`Overrule finding ${number}`}
              title="This finding is wrong: it does not count for this state of the work"
              @click=${() => void this.#overrule(number)}
              >Overrule</vscode-button
            >`
          : nothing
      }
    </li>`;
  }

  async #overrule(finding: number): Promise<void> {
    this.#failure = '';
    try {
      const changed = await this.host?.backend('review.overrule', { id: this.task, finding });
      this.#review = changed ?? this.#review;
    } catch (error) {
      this.#failure = error instanceof Error ? error.message : String(error);
    }
    this.requestUpdate();
  }

  async #read(): Promise<void> {
    const { host, task } = this;
    if (host === null || task === '') return;
    const review = await host.backend('review.show', { id: task }).catch(() => this.#review);
    if (task !== this.task) return;
    this.#review = review;
    this.requestUpdate();
  }
}

customElements.define('drover-review', DroverReview);
